// A refusal of the portal (RFC 9457 problem details) as an Error. Texts for people are chosen in shell/ProblemNotice.

export interface FieldProblem {
  field: string;
  code: string;
  detail: string;
}

export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  /** What the server said, in English; empty when it said nothing. */
  readonly detail: string;
  readonly params: Record<string, unknown>;
  readonly fields: FieldProblem[];
  readonly requestId: string | null;

  constructor(body: Partial<ProblemBody> & { status: number; code: string }) {
    super(body.detail || body.title || body.code);
    this.name = 'Problem';
    this.status = body.status;
    this.code = body.code;
    this.detail = body.detail ?? '';
    this.params = body.params ?? {};
    this.fields = body.errors ?? [];
    this.requestId = body.request_id ?? null;
  }
}

interface ProblemBody {
  title: string;
  status: number;
  detail: string;
  code: string;
  params: Record<string, unknown>;
  errors: FieldProblem[];
  request_id: string;
}

/** The network did not carry the request: nothing is known about what the server did. */
export function unreachable(): Problem {
  return new Problem({ status: 0, code: 'network.unreachable' });
}

export async function problemOf(response: Response): Promise<Problem> {
  const requestId = response.headers.get('X-Request-ID') ?? undefined;
  const body: unknown = await response.json().catch(() => null);
  if (isProblem(body))
    return new Problem({ ...body, request_id: body.request_id ?? requestId, status: response.status });
  return new Problem({ status: response.status, code: statusCode(response.status), request_id: requestId });
}

function isProblem(body: unknown): body is ProblemBody {
  return typeof body === 'object' && body !== null && typeof (body as ProblemBody).code === 'string';
}

function statusCode(status: number): string {
  if (status === 401) return 'auth.required';
  if (status === 403) return 'auth.forbidden';
  if (status === 404) return 'not_found';
  if (status === 429) return 'rate.limited';
  return status >= 500 ? 'internal' : 'request.invalid';
}
