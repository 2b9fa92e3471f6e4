// Instants as people read them, in a zone; and wall-clock inputs turned into instants. Never a naive time to the server.
import type { Language } from '~/i18n/catalogue';

export function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
}

export function dateTime(iso: string, language: Language, zone = browserZone()): string {
  return new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'short',
    hourCycle: 'h23',
    timeZone: zone,
  }).format(new Date(iso));
}

export function clock(iso: string, language: Language, zone = browserZone()): string {
  return new Intl.DateTimeFormat(language, {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: zone,
  }).format(new Date(iso));
}

export function day(date: Date, language: Language, zone = browserZone()): string {
  return new Intl.DateTimeFormat(language, { weekday: 'short', day: 'numeric', month: 'short', timeZone: zone }).format(
    date,
  );
}

/** "3 minutes ago", "in 2 hours". */
export function relative(iso: string, language: Language, now = Date.now()): string {
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const delta = (new Date(iso).getTime() - now) / 1000;
  const size = Math.abs(delta);
  if (size < 60) return format.format(Math.round(delta), 'second');
  if (size < 3600) return format.format(Math.round(delta / 60), 'minute');
  if (size < 86_400) return format.format(Math.round(delta / 3600), 'hour');
  return format.format(Math.round(delta / 86_400), 'day');
}

/** How far the zone is from UTC at an instant, in milliseconds (positive east of Greenwich). */
export function zoneOffset(instant: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(new Date(instant));
  const part = (type: string) => Number(parts.find((p) => p.type === type)?.value ?? 0);
  const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return wall - Math.floor(instant / 1000) * 1000;
}

/** The instant at which clocks of `zone` show `local` (`2026-11-30T14:00`). In a gap of summer time: the later one. */
export function instantOf(local: string, zone: string): Date {
  const wall = Date.parse(`${local.length === 16 ? `${local}:00` : local}Z`);
  const guess = wall - zoneOffset(wall, zone);
  return new Date(wall - zoneOffset(guess, zone));
}

/** What clocks of `zone` show at an instant, as a `datetime-local` input wants it. */
export function localOf(instant: Date, zone: string): string {
  return new Date(instant.getTime() + zoneOffset(instant.getTime(), zone)).toISOString().slice(0, 16);
}
