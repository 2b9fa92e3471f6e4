import { describe, expect, it } from 'vitest';
import { bytes, credits, quantity, seconds, short } from './numbers';
import { instantOf, localOf, relative } from './times';

describe('numbers', () => {
  it('choose the unit that suits', () => {
    expect(seconds(0.0000123, 'en')).toBe('12.3 µs');
    expect(seconds(0.00456, 'en')).toBe('4.56 ms');
    expect(seconds(320, 'en')).toBe('5 min 20 s');
    expect(seconds(7500, 'en')).toBe('2 h 5 min');
    expect(bytes(638_976, 'en')).toBe('624 KiB');
    expect(short(25_557_032, 'en')).toBe('25.6 M');
    expect(quantity(4567.8, 'en')).toBe('4,568');
  });
  it('tell small credits from none', () => {
    expect(credits(1_250_000, 'en')).toBe('1.25');
    expect(credits(123, 'en')).toBe('0.000123');
    expect(credits(0, 'en')).toBe('0');
  });
});

describe('times', () => {
  it('turn wall clocks of a zone into instants and back', () => {
    expect(instantOf('2026-11-30T14:00', 'Asia/Shanghai').toISOString()).toBe('2026-11-30T06:00:00.000Z');
    expect(localOf(new Date('2026-07-01T12:00:00Z'), 'Europe/London')).toBe('2026-07-01T13:00');
  });
  it('are told relative to now', () => {
    const now = Date.parse('2026-11-30T12:00:00Z');
    expect(relative('2026-11-30T11:57:00Z', 'en', now)).toBe('3 minutes ago');
    expect(relative('2026-11-30T14:00:00Z', 'zh-Hans', now)).toBe('2小时后');
  });
});
