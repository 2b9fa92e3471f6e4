// Tokens, device login and the audit log.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { answer, api } from '../http';
import { cursorOf, FIRST_PAGE } from '../pages';
import type { components, paths } from '../schema';

type Schemas = components['schemas'];
export type AuditEntry = Schemas['AuditEntry'];
export type DeviceRequest = Schemas['DeviceRequest'];
export type AuditFilter = Omit<
  NonNullable<paths['/api/v1/organizations/{org_id}/audit']['get']['parameters']['query']>,
  'cursor' | 'limit'
>;

export const scopesQuery = (organization: string) =>
  queryOptions({
    queryKey: ['tokens', 'scopes', organization],
    queryFn: ({ signal }) =>
      answer(api.GET('/api/v1/tokens/scopes', { signal, params: { query: { organization_id: organization } } })),
  });

export const tokenPolicyQuery = (organization: string) =>
  queryOptions({
    queryKey: ['tokens', 'policy', organization],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/v1/organizations/{org_id}/token-policy', {
          signal,
          params: { path: { org_id: organization } },
        }),
      ),
  });

export const rotateToken = (id: string, overlapHours: number) =>
  answer(
    api.POST('/api/v1/tokens/{token_id}/rotate', {
      params: { path: { token_id: id } },
      body: { overlap_hours: overlapHours },
    }),
  );

export const revokeAllTokens = () => answer(api.POST('/api/v1/tokens/revoke-all', { body: { of_everybody: false } }));

export const lookAtDevice = (code: string) => answer(api.POST('/api/v1/device/look', { body: { user_code: code } }));

export const decideOnDevice = (body: Schemas['DecideRequest']) => answer(api.POST('/api/v1/device/decide', { body }));

/** The log of an organization, or with null the reader's own log-ins. */
export const auditQuery = (organization: string | null, filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', organization, filter],
    initialPageParam: FIRST_PAGE,
    queryFn: ({ pageParam: cursor, signal }) =>
      organization === null
        ? answer(api.GET('/api/v1/audit/mine', { signal, params: { query: { ...filter, cursor } } }))
        : answer(
            api.GET('/api/v1/organizations/{org_id}/audit', {
              signal,
              params: { path: { org_id: organization }, query: { ...filter, cursor } },
            }),
          ),
    getNextPageParam: cursorOf,
  });

/** What was done on the whole installation; for operators. */
export const platformAuditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', 'platform', filter],
    initialPageParam: FIRST_PAGE,
    queryFn: ({ pageParam: cursor, signal }) =>
      answer(api.GET('/api/v1/audit', { signal, params: { query: { ...filter, cursor } } })),
    getNextPageParam: cursorOf,
  });
