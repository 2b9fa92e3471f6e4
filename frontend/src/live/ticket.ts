// A socket that fetches a one-time ticket first. The server looks at no cookie there: any page could make a browser send
// one, but only ours can read a ticket. Whoever is signed out opens it without.
import { answer, api } from '~/api/http';
import { Problem } from '~/api/problem';
import type { Line } from './socket';

const PROTOCOL = 'podium.v1';

export function openWithTicket(url: string): Line {
  return new TicketedSocket(url);
}

class TicketedSocket implements Line {
  onopen: Line['onopen'] = null;
  onmessage: Line['onmessage'] = null;
  onclose: Line['onclose'] = null;
  private socket: WebSocket | null = null;
  private closed = false;

  constructor(url: string) {
    void this.open(url);
  }

  get readyState(): number {
    if (this.closed) return WebSocket.CLOSED;
    return this.socket?.readyState ?? WebSocket.CONNECTING;
  }

  send(text: string): void {
    this.socket?.send(text);
  }

  close(): void {
    this.closed = true;
    this.socket?.close();
  }

  private async open(url: string): Promise<void> {
    const protocols = await protocolsFor(new URL(url).pathname).catch(() => null);
    if (this.closed) return;
    if (protocols === null) {
      this.closed = true;
      this.onclose?.();
      return;
    }
    const socket = new WebSocket(url, protocols);
    this.socket = socket;
    socket.onopen = () => this.onopen?.();
    socket.onmessage = (message) => this.onmessage?.(message);
    socket.onclose = () => this.onclose?.();
  }
}

async function protocolsFor(path: string): Promise<string[]> {
  try {
    const { ticket } = await answer(api.POST('/api/v1/tickets', { body: { path } }));
    return [PROTOCOL, `ticket.${ticket}`];
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return [PROTOCOL];
    throw error;
  }
}
