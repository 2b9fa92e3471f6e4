// Members, ledger and tokens of the reader's organizations. Which there are is told by the session.
import { infiniteQueryOptions } from '@tanstack/react-query';
import { answer, api } from '../http';
import { cursorOf, FIRST_PAGE } from '../pages';
import type { components } from '../schema';
import type { Role } from '../types';

export const membersQuery = (organization: string) =>
  infiniteQueryOptions({
    queryKey: ['members', organization],
    initialPageParam: FIRST_PAGE,
    queryFn: ({ pageParam: cursor, signal }) =>
      answer(
        api.GET('/api/v1/organizations/{org_id}/members', {
          signal,
          params: { path: { org_id: organization }, query: { cursor } },
        }),
      ),
    getNextPageParam: cursorOf,
  });

export const addMember = (organization: string, email: string, role: Role) =>
  answer(
    api.POST('/api/v1/organizations/{org_id}/members', {
      params: { path: { org_id: organization } },
      body: { email, role },
    }),
  );

export const changeRole = (organization: string, user: string, role: Role) =>
  answer(
    api.PATCH('/api/v1/organizations/{org_id}/members/{user_id}', {
      params: { path: { org_id: organization, user_id: user } },
      body: { role },
    }),
  );

export const removeMember = (organization: string, user: string) =>
  answer(
    api.DELETE('/api/v1/organizations/{org_id}/members/{user_id}', {
      params: { path: { org_id: organization, user_id: user } },
    }),
  );

export const ledgerQuery = (organization: string) =>
  infiniteQueryOptions({
    queryKey: ['ledger', organization],
    initialPageParam: FIRST_PAGE,
    queryFn: ({ pageParam: cursor, signal }) =>
      answer(
        api.GET('/api/v1/organizations/{org_id}/ledger', {
          signal,
          params: { path: { org_id: organization }, query: { cursor } },
        }),
      ),
    getNextPageParam: cursorOf,
  });

export const tokensQuery = infiniteQueryOptions({
  queryKey: ['tokens'],
  initialPageParam: FIRST_PAGE,
  queryFn: ({ pageParam: cursor, signal }) =>
    answer(api.GET('/api/v1/tokens', { signal, params: { query: { cursor } } })),
  getNextPageParam: cursorOf,
});

export const createToken = (body: components['schemas']['CreateTokenRequest']) =>
  answer(api.POST('/api/v1/tokens', { body }));
export const revokeToken = (id: string) =>
  answer(api.DELETE('/api/v1/tokens/{token_id}', { params: { path: { token_id: id } } }));
