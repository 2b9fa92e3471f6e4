// Signing up, in and out through allauth's headless browser API. Who is signed in is told by queries/session.
import { csrfToken } from './http';
import { Problem, unreachable, type FieldProblem } from './problem';

const BASE = '/_allauth/browser/v1/';

interface Answer {
  status: number;
  data?: { flows?: { id: string; is_pending?: boolean }[] };
  meta?: { is_authenticated?: boolean };
  errors?: { message: string; code: string; param?: string }[];
}

/** What has to happen next. */
export type Outcome = 'signed_in' | 'confirm_mail' | 'signed_out';

async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(BASE + path, {
    method,
    credentials: 'same-origin',
    headers: { Accept: 'application/json', 'Content-Type': 'application/json', 'X-CSRFToken': csrfToken() },
    body: body === undefined ? undefined : JSON.stringify(body),
  }).catch(() => {
    throw unreachable();
  });
  const answer = (await response.json().catch(() => ({}))) as Partial<Answer>;
  if (![200, 401, 410].includes(response.status)) throw authProblem(response.status, answer);
  return { ...answer, status: response.status };
}

function authProblem(status: number, answer: Partial<Answer>): Problem {
  const fields: FieldProblem[] = (answer.errors ?? []).map((error) => ({
    field: error.param ?? '',
    code: `auth.${error.code}`,
    detail: error.message,
  }));
  const first = fields[0];
  const code = status === 429 ? 'rate.limited' : (first?.code ?? (status >= 500 ? 'internal' : 'auth.refused'));
  return new Problem({ status, code, detail: first?.detail, errors: fields });
}

function outcome(answer: Answer): Outcome {
  if (answer.meta?.is_authenticated) return 'signed_in';
  const pending = answer.data?.flows?.find((flow) => flow.is_pending);
  return pending?.id === 'verify_email' ? 'confirm_mail' : 'signed_out';
}

export const signUp = async (email: string, password: string, name: string): Promise<Outcome> =>
  outcome(await call('POST', 'auth/signup', { email, password, ...(name ? { name } : {}) }));

export const logIn = async (email: string, password: string): Promise<Outcome> =>
  outcome(await call('POST', 'auth/login', { email, password }));

export const logOut = async (): Promise<void> => void (await call('DELETE', 'auth/session'));

/** Sends a mail with a link, if the address has an account; the answer is the same if not. */
export const requestReset = async (email: string): Promise<void> =>
  void (await call('POST', 'auth/password/request', { email }));

/** Sets a new password with the key from the mail's link. The person has to log in with it. */
export const resetPassword = async (key: string, password: string): Promise<void> =>
  void (await call('POST', 'auth/password/reset', { key, password }));

/** Confirms an address with the key from the mail's link. Afterwards the person may still have to log in. */
export const confirmMail = async (key: string): Promise<Outcome> =>
  outcome(await call('POST', 'auth/email/verify', { key }));
