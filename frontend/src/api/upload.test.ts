import { describe, expect, it } from 'vitest';
import { Problem } from './problem';
import type { Model, Upload } from './types';
import { uploadModel, type UploadTarget } from './upload';

const PART = 8;

/** jsdom's Blob has no arrayBuffer(). */
const bytesOf = (part: Blob) =>
  new Promise<Uint8Array>((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(new Uint8Array(reader.result as ArrayBuffer));
    reader.readAsArrayBuffer(part);
  });

/** A server in memory that fails where it is told to. */
function fakeServer({ failAt = [] as number[], status = 0 } = {}) {
  const stored: number[] = [];
  const failing = new Set(failAt);
  let created = 0;
  const row = (size: number): Upload => ({ id: 'u1', size, received: stored.length, part_bytes: PART, expires_at: '' });
  let size = 0;
  const target: UploadTarget = {
    create: async (file) => {
      created += 1;
      size = file.size;
      return row(size);
    },
    look: async () => {
      if (!created) throw new Problem({ status: 404, code: 'not_found' });
      return row(size);
    },
    put: async (_id, offset, part) => {
      if (offset !== stored.length) throw new Problem({ status: 409, code: 'upload.offset' });
      const bytes = await bytesOf(part);
      if (failing.delete(offset)) {
        stored.push(...bytes.slice(0, 3)); // part of it arrived
        throw new Problem({ status, code: 'network.unreachable' });
      }
      stored.push(...bytes);
      return stored.length;
    },
    complete: async () => ({ id: 'm1' }) as Model,
  };
  return { target, stored, created: () => created };
}

const content = Array.from({ length: 29 }, (_, i) => i);
const file = () => new File([new Uint8Array(content)], 'a.onnx', { lastModified: 5 });
const signal = new AbortController().signal;
const options = (target: UploadTarget) => ({
  target,
  signal,
  onProgress: () => undefined,
  memory: memory(),
  wait: async () => undefined,
});

function memory() {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
}

describe('uploadModel', () => {
  it('sends every byte once, in parts', async () => {
    const server = fakeServer();
    const seen: number[] = [];
    await uploadModel(file(), { ...options(server.target), onProgress: (sent) => seen.push(sent) });
    expect(server.stored).toEqual(content);
    expect(seen).toEqual([0, 8, 16, 24, 29]);
  });

  it('goes on from what arrived after a broken connection', async () => {
    const server = fakeServer({ failAt: [8, 19] });
    await uploadModel(file(), options(server.target));
    expect(server.stored).toEqual(content);
  });

  it('continues the same upload when the file is chosen again', async () => {
    const server = fakeServer({ failAt: [8], status: 413 });
    const shared = options(server.target);
    await expect(uploadModel(file(), shared)).rejects.toThrow();
    await uploadModel(file(), shared);
    expect(server.created()).toBe(1);
    expect(server.stored).toEqual(content);
    expect(shared.memory.getItem('podium-upload:a.onnx:29:5')).toBeNull();
  });

  it('starts anew when the server has forgotten it', async () => {
    const server = fakeServer();
    const shared = options(server.target);
    shared.memory.setItem('podium-upload:a.onnx:29:5', 'gone');
    await uploadModel(file(), shared);
    expect(server.created()).toBe(1);
    expect(server.stored).toEqual(content);
  });

  it('gives up on a refusal', async () => {
    const server = fakeServer({ failAt: [0], status: 413 });
    await expect(uploadModel(file(), options(server.target))).rejects.toMatchObject({ status: 413 });
  });
});
