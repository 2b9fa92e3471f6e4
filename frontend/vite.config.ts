import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { compress } from './compress.ts';

const target = process.env.PODIUM_DEV_TARGET ?? 'http://127.0.0.1:8000';

export default defineConfig({
  plugins: [react(), compress()],
  resolve: { alias: { '~': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: { target: 'es2022', assetsInlineLimit: 0, chunkSizeWarningLimit: 900 },
  server: {
    // The portal accepts changing requests and sockets from its own origin alone, so the proxy speaks with that one.
    proxy: Object.fromEntries(
      ['/api', '/_allauth', '/static', '/ws'].map((path) => [
        path,
        { target, changeOrigin: true, ws: path === '/ws', headers: { origin: target } },
      ]),
    ),
  },
  test: {
    environment: 'jsdom',
    setupFiles: ['src/testing/setup.ts'],
    include: ['src/**/*.test.{ts,tsx}'],
  },
});
