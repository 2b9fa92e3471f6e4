// The mark: three steps of a podium, as tiles.
import { Link } from '@tanstack/react-router';
import { useWords } from '~/i18n/words';
import classes from './Header.module.css';

export function Brand() {
  const { t } = useWords();
  return (
    <Link to="/" className={classes.brand}>
      <svg width="26" height="22" viewBox="0 0 26 22" aria-hidden="true">
        <rect className={classes.second} x="0" y="9" width="8" height="13" rx="1.5" />
        <rect className={classes.first} x="9" y="0" width="8" height="22" rx="1.5" />
        <rect className={classes.third} x="18" y="13" width="8" height="9" rx="1.5" />
      </svg>
      {t('app.name')}
    </Link>
  );
}
