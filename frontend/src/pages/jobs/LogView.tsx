// The log. Only the lines in view are in the page, so that a very long log scrolls as well as a short one.
import { Button, Group, Paper, Switch, Text, Title } from '@mantine/core';
import { useLayoutEffect, useRef, useState } from 'react';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import type { LogLine } from '~/live/jobStream';
import classes from './Job.module.css';

const LINE = 20;
const VIEW = 300;
const MARGIN = 10;

export function LogView({ lines, name }: { lines: readonly LogLine[]; name: string }) {
  const { t, tn } = useWords();
  const format = useFormat();
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [follow, setFollow] = useState(true);
  useLayoutEffect(() => {
    if (follow && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [follow, lines.length]);
  const scrolled = () => {
    const el = box.current;
    if (!el) return;
    setTop(el.scrollTop);
    setFollow(el.scrollTop + el.clientHeight >= el.scrollHeight - LINE);
  };
  const first = Math.max(0, Math.floor(top / LINE) - MARGIN);
  const shown = lines.slice(first, first + Math.ceil(VIEW / LINE) + 2 * MARGIN);
  return (
    <Paper withBorder p="md" miw={0}>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h3">
          {t('job.log')}{' '}
          <Text span size="sm" c="dimmed" fw={400}>
            {tn('job.log.lines', lines.length)}
          </Text>
        </Title>
        <Group gap="sm">
          <Switch
            size="sm"
            label={t('job.log.follow')}
            checked={follow}
            onChange={(event) => setFollow(event.currentTarget.checked)}
          />
          <Button size="compact-sm" variant="subtle" disabled={lines.length === 0} onClick={() => save(lines, name)}>
            {t('common.download')}
          </Button>
        </Group>
      </Group>
      <div
        ref={box}
        className={classes.log}
        onScroll={scrolled}
        tabIndex={0}
        role="log"
        aria-label={t('job.log')}
        aria-live="off"
      >
        {lines.length === 0 && (
          <div className={classes.logLine}>
            <span className={classes.logTime}>{t('job.log.empty')}</span>
          </div>
        )}
        <div style={{ height: lines.length * LINE }} />
        {shown.map((line) => (
          <div
            key={line.n}
            className={classes.logLine}
            data-level={line.level}
            style={{ top: line.n * LINE }}
            lang="en"
          >
            <span className={classes.logTime}>{format.clock(line.time)}</span>
            {line.message}
          </div>
        ))}
      </div>
    </Paper>
  );
}

function save(lines: readonly LogLine[], name: string): void {
  const text = lines
    .map((line) => `${line.time} [${line.attempt}] ${line.level.toUpperCase()} ${line.message}\n`)
    .join('');
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
