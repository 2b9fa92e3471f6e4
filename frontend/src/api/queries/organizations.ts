// Members, ledger and tokens of the reader's organizations. Which there are is told by the session.
import { infiniteQueryOptions } from '@tanstack/react-query';
import { get, patch, post, remove } from '../http';
import { cursorOf } from '../pages';
import type { LedgerEntry, Member, Page, Role, Token } from '../types';

export const membersQuery = (organization: string) =>
  infiniteQueryOptions({
    queryKey: ['members', organization],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => get<Page<Member>>(`organizations/${organization}/members`, { cursor: pageParam }, signal),
    getNextPageParam: cursorOf,
  });

export const addMember = (organization: string, email: string, role: Role) =>
  post<Member>(`organizations/${organization}/members`, { email, role });
export const changeRole = (organization: string, user: string, role: Role) =>
  patch<Member>(`organizations/${organization}/members/${user}`, { role });
export const removeMember = (organization: string, user: string) => remove(`organizations/${organization}/members/${user}`);

export const ledgerQuery = (organization: string) =>
  infiniteQueryOptions({
    queryKey: ['ledger', organization],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => get<Page<LedgerEntry>>(`organizations/${organization}/ledger`, { cursor: pageParam }, signal),
    getNextPageParam: cursorOf,
  });

export const tokensQuery = infiniteQueryOptions({
  queryKey: ['tokens'],
  initialPageParam: '',
  queryFn: ({ pageParam, signal }) => get<Page<Token>>('tokens', { cursor: pageParam }, signal),
  getNextPageParam: cursorOf,
});

export interface TokenRequest {
  name: string;
  scopes: string[];
  expires_in_days: number;
  organization_id: string;
}

export const createToken = (request: TokenRequest) => post<Token & { token: string }>('tokens', request);
export const revokeToken = (id: string) => remove(`tokens/${id}`);
