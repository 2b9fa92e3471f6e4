// How requests travel: same origin, session cookie, CSRF header, problems as errors. It knows no endpoint.
import { problemOf, unreachable } from './problem';

const API = '/api/v1/';
const SAFE = new Set(['GET', 'HEAD']);

export function csrfToken(cookies = document.cookie): string {
  const pair = cookies.split('; ').find((cookie) => /^(podium_)?csrf(token)?=/.test(cookie));
  return pair ? decodeURIComponent(pair.slice(pair.indexOf('=') + 1)) : '';
}

type Query = Record<string, string | number | boolean | null | undefined>;

export function apiUrl(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return API + path + (text ? `?${text}` : '');
}

export interface Options {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  /** One key for one intention: a repeated click or a retry after a broken connection acts once. */
  idempotencyKey?: string;
}

export async function request<T>(method: string, path: string, options: Options = {}): Promise<T> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (!SAFE.has(method)) headers['X-CSRFToken'] = csrfToken();
  if (options.body !== undefined) headers['Content-Type'] = 'application/json';
  if (options.idempotencyKey) headers['Idempotency-Key'] = options.idempotencyKey;
  const response = await fetch(apiUrl(path, options.query), {
    method,
    headers,
    credentials: 'same-origin',
    body: options.body === undefined ? undefined : JSON.stringify(options.body),
    signal: options.signal,
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw unreachable();
  });
  if (!response.ok) throw await problemOf(response);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal) => request<T>('GET', path, { query, signal });
export const post = <T>(path: string, body: unknown, idempotencyKey?: string) =>
  request<T>('POST', path, { body, idempotencyKey });
export const patch = <T>(path: string, body: unknown) => request<T>('PATCH', path, { body });
export const remove = (path: string) => request<void>('DELETE', path);
