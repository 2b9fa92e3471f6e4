import { expect, it } from 'vitest';
import { safeNext } from './LogInPage';
import { hereIfOurs } from './OutboxPage';

it('only a path of this site follows a sign-in', () => {
  expect(safeNext('/jobs/1?a=b')).toBe('/jobs/1?a=b');
  for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)', undefined]) {
    expect(safeNext(next)).toBe('/');
  }
});

it('links of mails to this site stay on the address in use', () => {
  expect(hereIfOurs('http://a:1/confirm/x?y=1', 'a:1')).toBe('/confirm/x?y=1');
  expect(hereIfOurs('http://other/confirm/x', 'a:1')).toBe('http://other/confirm/x');
  expect(hereIfOurs('not a link', 'a:1')).toBe('not a link');
});
