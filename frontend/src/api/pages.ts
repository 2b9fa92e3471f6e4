// Lists come in pages; `next` is the whole address of the next one.
import type { Page } from './types';

/** The cursor of the next page, or undefined when this was the last. */
export function cursorOf(page: Page<unknown>): string | undefined {
  if (!page.next) return undefined;
  return new URL(page.next, window.location.origin).searchParams.get('cursor') ?? undefined;
}
