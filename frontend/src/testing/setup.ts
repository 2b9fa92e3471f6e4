// jsdom lacks a few things that Mantine asks of a browser.
import { cleanup, configure } from '@testing-library/react';
import { afterEach } from 'vitest';

window.matchMedia ??= ((query: string) => ({
  matches: false,
  media: query,
  onchange: null,
  addEventListener: () => undefined,
  removeEventListener: () => undefined,
  addListener: () => undefined,
  removeListener: () => undefined,
  dispatchEvent: () => false,
})) as typeof window.matchMedia;

window.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

// Two busy cores may take longer than the library's one second to come to a promise.
configure({ asyncUtilTimeout: 8000 });
afterEach(cleanup);
