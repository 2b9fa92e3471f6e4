// Writes compressed copies beside the built files, so that the server sends them as they are and compresses nothing.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin, ResolvedConfig } from 'vite';

const WORTH_IT = /\.(js|css|svg)$/;
const SMALLEST = 1024;

export function compress(): Plugin {
  let config: ResolvedConfig;
  return {
    name: 'podium-compress',
    apply: 'build',
    configResolved(resolved) {
      config = resolved;
    },
    async closeBundle() {
      const folder = join(config.root, config.build.outDir, config.build.assetsDir);
      for (const name of (await readdir(folder)).filter((each) => WORTH_IT.test(each))) {
        const content = await readFile(join(folder, name));
        if (content.length < SMALLEST) continue;
        await writeFile(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
        const brotli = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
        await writeFile(join(folder, `${name}.br`), brotli);
      }
    },
  };
}
