// How requests travel: same origin, session cookie, CSRF header, refusals as Problem errors. Endpoints and their types
// come from the portal's schema; the questions that pages ask are in queries/.
import createClient, { type Middleware } from 'openapi-fetch';
import { problemOf, unreachable } from './problem';
import type { paths } from './schema';

const SAFE = new Set(['GET', 'HEAD']);

export function csrfToken(cookies = document.cookie): string {
  const pair = cookies.split('; ').find((cookie) => cookie.startsWith('csrftoken='));
  return pair ? decodeURIComponent(pair.slice(pair.indexOf('=') + 1)) : '';
}

const portal: Middleware = {
  onRequest({ request }) {
    if (!SAFE.has(request.method)) request.headers.set('X-CSRFToken', csrfToken());
    return request;
  },
  async onResponse({ response }) {
    if (!response.ok) throw await problemOf(response);
  },
  onError({ error }) {
    return error instanceof DOMException && error.name === 'AbortError' ? error : unreachable();
  },
};

export const api = createClient<paths>({
  baseUrl: window.location.origin,
  credentials: 'same-origin',
  fetch: (request) => globalThis.fetch(request),
});
api.use(portal);

/** The body of an answer. Refusals have been thrown by then, so there is one wherever the schema has one. */
export async function answer<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T;
}

/** One key for one intention: a repeated click, or a retry after a broken connection, acts once. */
export const idempotent = (key: string) => ({ 'Idempotency-Key': key });
