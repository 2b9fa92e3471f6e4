// Lists come in pages; `next` is the whole address of the next one.

/** The cursor of the first page: none. */
export const FIRST_PAGE: string | undefined = undefined;

/** The cursor of the next page, or undefined when this was the last. */
export function cursorOf(page: { next: string | null }): string | undefined {
  if (!page.next) return undefined;
  return new URL(page.next, window.location.origin).searchParams.get('cursor') ?? undefined;
}
