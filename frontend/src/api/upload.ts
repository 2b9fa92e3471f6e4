// Sends a file in parts and goes on after a break: the server tells how far it is. Which file an unfinished upload
// belongs to is remembered in the browser. Knows no page.
import { answer, api, csrfToken } from './http';
import { Problem, unreachable } from './problem';
import type { Model, Upload } from './types';

export interface UploadTarget {
  create: (file: File, project: string | undefined) => Promise<Upload>;
  look: (id: string) => Promise<Upload>;
  /** Sends bytes from `offset`; resolves to how many the server has then. */
  put: (
    id: string,
    offset: number,
    part: Blob,
    onSent: (bytes: number) => void,
    signal: AbortSignal,
  ) => Promise<number>;
  complete: (id: string) => Promise<Model>;
}

export interface UploadOptions {
  project?: string;
  signal: AbortSignal;
  onProgress: (sent: number, total: number) => void;
  target?: UploadTarget;
  memory?: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  wait?: (ms: number) => Promise<void>;
}

const TRIES = 6;
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Name, size and date say which file it is without reading it. */
const memoryKey = (file: File) => `podium-upload:${file.name}:${file.size}:${file.lastModified}`;

export async function uploadModel(file: File, options: UploadOptions): Promise<Model> {
  const target = options.target ?? server;
  const memory = options.memory ?? window.localStorage;
  const key = memoryKey(file);
  const upload = (await resumed(memory.getItem(key), file, target)) ?? (await target.create(file, options.project));
  memory.setItem(key, upload.id);
  await sendParts(file, upload, target, options);
  const model = await target.complete(upload.id);
  memory.removeItem(key);
  return model;
}

async function resumed(id: string | null, file: File, target: UploadTarget): Promise<Upload | null> {
  if (!id) return null;
  try {
    const upload = await target.look(id);
    return upload.size === file.size ? upload : null;
  } catch (error) {
    if (error instanceof Problem && error.status >= 400 && error.status < 500) return null; // gone or completed
    throw error;
  }
}

async function sendParts(file: File, upload: Upload, target: UploadTarget, options: UploadOptions): Promise<void> {
  const { signal, onProgress, wait = sleep } = options;
  let offset = upload.received;
  let failures = 0;
  onProgress(offset, file.size);
  while (offset < file.size) {
    signal.throwIfAborted();
    const part = file.slice(offset, Math.min(file.size, offset + upload.part_bytes));
    const start = offset;
    try {
      offset = await target.put(upload.id, start, part, (sent) => onProgress(start + sent, file.size), signal);
      failures = 0;
    } catch (error) {
      failures += 1;
      if (!mayGoOn(error) || failures >= TRIES) throw error;
      await wait(500 * 2 ** failures);
      offset = (await target.look(upload.id).catch(() => ({ received: start }))).received;
    }
    onProgress(offset, file.size);
  }
}

/** A broken connection, a busy server, or an offset that another tab moved on. */
function mayGoOn(error: unknown): boolean {
  return (
    error instanceof Problem &&
    (error.status === 0 || error.status === 409 || error.status === 429 || error.status >= 500)
  );
}

/** XMLHttpRequest, since fetch does not tell how much of a body has been sent. */
function putPart(
  id: string,
  offset: number,
  part: Blob,
  onSent: (bytes: number) => void,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    request.open('PUT', `/api/v1/uploads/${id}`);
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.setRequestHeader('Upload-Offset', String(offset));
    request.setRequestHeader('X-CSRFToken', csrfToken());
    request.upload.onprogress = (event) => onSent(event.loaded);
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(new DOMException('aborted', 'AbortError'));
    request.onload = () => {
      const body = JSON.parse(request.responseText || '{}') as { received?: number; code?: string; detail?: string };
      if (request.status < 300 && typeof body.received === 'number') resolve(body.received);
      else reject(new Problem({ ...body, status: request.status, code: body.code ?? 'internal' }));
    };
    request.onloadend = () => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort);
    request.send(part);
  });
}

const server: UploadTarget = {
  create: (file, project) =>
    answer(api.POST('/api/v1/uploads', { body: { name: file.name, size: file.size, project_id: project } })),
  look: (id) => answer(api.GET('/api/v1/uploads/{upload_id}', { params: { path: { upload_id: id } } })),
  put: putPart,
  complete: (id) => answer(api.POST('/api/v1/uploads/{upload_id}/complete', { params: { path: { upload_id: id } } })),
};
