// Addresses and the pages behind them. Each page is fetched when it is first visited; private ones ask for a sign-in.
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { sessionQuery } from './api/queries/session';
import { CrashPage } from './shell/CrashPage';
import { Layout } from './shell/Layout';
import { MissingPage } from './shell/MissingPage';

interface Context {
  client: QueryClient;
}

const root = createRootRouteWithContext<Context>()({
  component: Layout,
  notFoundComponent: MissingPage,
});

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

async function requireSignIn({ context, location }: { context: Context; location: { href: string } }): Promise<void> {
  const session = await context.client.ensureQueryData(sessionQuery);
  if (!session.user) throw redirect({ to: '/login', search: { next: location.href } });
}

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/home/HomePage'), 'HomePage'),
});
const signup = createRoute({
  getParentRoute: () => root,
  path: '/signup',
  component: lazyRouteComponent(() => import('./pages/account/SignUpPage'), 'SignUpPage'),
});
const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: (search: Record<string, unknown>): { next?: string; confirmed?: string } => ({
    next: text(search.next),
    confirmed: text(search.confirmed),
  }),
  component: lazyRouteComponent(() => import('./pages/account/LogInPage'), 'LogInPage'),
});
const confirm = createRoute({
  getParentRoute: () => root,
  path: '/confirm/$key',
  component: lazyRouteComponent(() => import('./pages/account/ConfirmPage'), 'ConfirmPage'),
});
const forgotten = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('./pages/account/ForgottenPage'), 'ForgottenPage'),
});
const reset = createRoute({
  getParentRoute: () => root,
  path: '/reset-password/$key',
  component: lazyRouteComponent(() => import('./pages/account/ResetPage'), 'ResetPage'),
});
const outbox = createRoute({
  getParentRoute: () => root,
  path: '/outbox',
  component: lazyRouteComponent(() => import('./pages/account/OutboxPage'), 'OutboxPage'),
});
const errorPage = createRoute({
  getParentRoute: () => root,
  path: '/docs/errors/$code',
  component: lazyRouteComponent(() => import('./pages/errors/ErrorCodePage'), 'ErrorCodePage'),
});

const boards = createRoute({
  getParentRoute: () => root,
  path: '/leaderboards',
  component: lazyRouteComponent(() => import('./pages/boards/BoardsPage'), 'BoardsPage'),
});
const board = createRoute({
  getParentRoute: () => root,
  path: '/leaderboards/$slug',
  component: lazyRouteComponent(() => import('./pages/boards/BoardPage'), 'BoardPage'),
});

const privatePages = createRoute({ getParentRoute: () => root, id: 'private', beforeLoad: requireSignIn });

const models = createRoute({
  getParentRoute: () => privatePages,
  path: '/models',
  component: lazyRouteComponent(() => import('./pages/models/ModelsPage'), 'ModelsPage'),
});
const model = createRoute({
  getParentRoute: () => privatePages,
  path: '/models/$id',
  component: lazyRouteComponent(() => import('./pages/models/ModelPage'), 'ModelPage'),
});
const pods = createRoute({
  getParentRoute: () => privatePages,
  path: '/pods',
  component: lazyRouteComponent(() => import('./pages/pods/PodsPage'), 'PodsPage'),
});
const launch = createRoute({
  getParentRoute: () => privatePages,
  path: '/launch',
  validateSearch: (search: Record<string, unknown>): { model?: string; reservation?: string; suite?: string } => ({
    model: text(search.model),
    reservation: text(search.reservation),
    suite: text(search.suite),
  }),
  component: lazyRouteComponent(() => import('./pages/launch/LaunchPage'), 'LaunchPage'),
});
const jobs = createRoute({
  getParentRoute: () => privatePages,
  path: '/jobs',
  component: lazyRouteComponent(() => import('./pages/jobs/JobsPage'), 'JobsPage'),
});
const job = createRoute({
  getParentRoute: () => privatePages,
  path: '/jobs/$id',
  component: lazyRouteComponent(() => import('./pages/jobs/JobPage'), 'JobPage'),
});
const tokens = createRoute({
  getParentRoute: () => privatePages,
  path: '/tokens',
  component: lazyRouteComponent(() => import('./pages/tokens/TokensPage'), 'TokensPage'),
});
const organization = createRoute({
  getParentRoute: () => privatePages,
  path: '/organization',
  component: lazyRouteComponent(() => import('./pages/organization/OrganizationPage'), 'OrganizationPage'),
});

const device = createRoute({
  getParentRoute: () => privatePages,
  path: '/device',
  validateSearch: (search: Record<string, unknown>): { code?: string } => ({ code: text(search.code) }),
  component: lazyRouteComponent(() => import('./pages/device/DevicePage'), 'DevicePage'),
});
const audit = createRoute({
  getParentRoute: () => privatePages,
  path: '/audit',
  component: lazyRouteComponent(() => import('./pages/audit/AuditPage'), 'AuditPage'),
});

const tree = root.addChildren([
  home,
  signup,
  login,
  confirm,
  forgotten,
  reset,
  outbox,
  errorPage,
  boards,
  board,
  privatePages.addChildren([models, model, pods, launch, jobs, job, tokens, organization, device, audit]),
]);

export function makeRouter(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { client },
    defaultPreload: 'intent',
    defaultErrorComponent: CrashPage,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
