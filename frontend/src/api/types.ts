// Shapes that the portal answers with, as far as pages use them. Transport lives in http.ts, questions in queries/.
export type Uuid = string;
export type Iso = string;

export interface Page<T> {
  results: T[];
  next: string | null;
}
export interface Person {
  id: Uuid;
  name: string;
}
export type Role = 'owner' | 'admin' | 'member' | 'viewer';
export interface Project {
  id: Uuid;
  slug: string;
  name: string;
}
export interface Organization {
  id: Uuid;
  slug: string;
  name: string;
  role: Role;
  is_personal: boolean;
  balance_microcredits: number;
  projects: Project[];
}
export interface Session {
  user: { id: Uuid; email: string; name: string; is_operator: boolean } | null;
  organizations: Organization[];
  engine_release: string;
  embedded: boolean;
  outbox: boolean;
}
export interface OutboxMail {
  id: Uuid;
  to: string;
  subject: string;
  body: string;
  links: string[];
  sent_at: Iso;
}
export interface Member {
  user_id: Uuid;
  name: string;
  email: string;
  role: Role;
  joined_at: Iso;
}
export interface LedgerEntry {
  id: Uuid;
  kind: string;
  microcredits: number;
  held_microcredits: number;
  note: string;
  created_at: Iso;
}
export interface Token {
  id: Uuid;
  name: string;
  prefix: string;
  scopes: string[];
  organization_id: Uuid;
  project_id: Uuid | null;
  created_at: Iso;
  expires_at: Iso;
  last_used_at: Iso | null;
  revoked_at: Iso | null;
  token?: string;
}
export interface System {
  id: string;
  name: string;
  chip: string;
  ipus: number;
  machines: number;
  tiles_per_ipu: number;
  bytes_per_tile: number;
  clock_hz: number;
  allowed_sizes: number[];
  microcredits_per_ipu_hour: number;
  sources: unknown;
}
export interface Pod {
  id: Uuid;
  slug: string;
  name: string;
  system: string;
  ipus: number;
}
export interface Occupancy {
  ipu_start: number;
  ipus: number;
  starts_at: Iso;
  ends_at: Iso;
  kind: 'reservation' | 'job' | 'maintenance';
  mine: boolean;
  reservation_id: Uuid | null;
  job_id: Uuid | null;
}
export interface Upload {
  id: Uuid;
  size: number;
  received: number;
  part_bytes: number;
  expires_at: Iso;
}
export interface TensorSpec {
  name: string;
  dtype: string;
  shape: (number | string | null)[];
}
export interface Inspection {
  format: string;
  ir_version: number;
  opset: Record<string, number>;
  producer: string;
  parameters: number;
  parameter_bytes: number;
  nodes: number;
  inputs: TensorSpec[];
  outputs: TensorSpec[];
  operators: { op: string; domain: string; count: number; supported: boolean }[];
  unsupported: { op: string; domain: string; count: number; nodes: string[] }[];
  symbolic_dims: string[];
  trainable: boolean;
  warnings: { code: string; message: string }[];
}
export interface Refusal {
  code: string;
  detail: string;
  params: Record<string, unknown>;
}
export interface Model {
  id: Uuid;
  project_id: Uuid;
  name: string;
  sha256: string;
  bytes: number;
  state: 'inspecting' | 'accepted' | 'refused';
  summary: Inspection | null;
  refusal: Refusal | null;
  created_at: Iso;
  created_by: Person;
}
export interface ZooModel {
  id: string;
  name: string;
  description: string;
  parameters: number;
  trainable: boolean;
}
export interface Dataset {
  id: 'digits' | 'synthetic';
  name: string;
  description: string;
  samples: number | null;
  classes: number | null;
}
export interface Reservation {
  id: Uuid;
  project_id: Uuid;
  pod: { id: Uuid; slug: string; name: string; system: string };
  ipu_start: number;
  ipus: number;
  starts_at: Iso;
  ends_at: Iso;
  zone: string;
  state: 'booked' | 'active' | 'ended' | 'cancelled';
  price_microcredits: number;
  created_by: Person;
  created_at: Iso;
}
export interface RunConfig {
  task: 'train' | 'infer';
  batch: number;
  steps: number;
  optimiser: 'sgd' | 'momentum' | 'adam' | 'adamw';
  learning_rate: number;
  momentum: number;
  precision: 'fp16' | 'fp32';
  partials: 'fp16' | 'fp32';
  seed: number;
  dataset: 'digits' | 'synthetic';
  dims: Record<string, number>;
  available_memory_proportion: number;
  system: string;
  ipus: number | null;
}
export interface Estimate {
  fits: boolean;
  step_seconds: number;
  samples_per_second: number;
  latency_seconds: number | null;
  total_simulated_seconds: number;
  memory: { worst_tile_bytes: number; bytes_per_tile: number; over_by: number };
  price_microcredits: number;
  bound_by: Resource;
  sentence: string;
  intervals: Record<string, [number, number] | string>;
  batch?: { micro_batch: number; replicas: number; global_batch: number };
}
export interface EstimateRow {
  id: Uuid;
  state: 'pending' | 'ready' | 'failed';
  estimate: Estimate | null;
  error: Refusal | null;
}
export type Resource = 'compute' | 'exchange' | 'sync' | 'host' | 'collective';
export type JobState =
  | 'queued'
  | 'allocating'
  | 'compiling'
  | 'running'
  | 'cancelling'
  | 'succeeded'
  | 'failed'
  | 'cancelled'
  | 'timed_out';
export interface JobEnd {
  code: string;
  message: string;
  fault: 'user' | 'platform' | 'limit' | 'none';
  params: Record<string, unknown>;
}
export interface Job {
  id: Uuid;
  number: number;
  name: string;
  project_id: Uuid;
  model: { id: Uuid | null; zoo: string | null; name: string; sha256: string };
  task: 'train' | 'infer';
  config: RunConfig;
  system: string;
  ipus: number;
  reservation_id: Uuid | null;
  suite: string | null;
  state: JobState;
  phase: { name: string; fraction: number } | null;
  progress: { done: number; total: number } | null;
  end: JobEnd | null;
  result: {
    step_seconds: number | null;
    samples_per_second: number | null;
    latency_seconds: number | null;
    final_loss: number | null;
    fits: boolean;
    simulated_seconds: number | null;
  } | null;
  attempt: number;
  last_seq: number;
  price: { held_microcredits: number; captured_microcredits: number };
  created_at: Iso;
  started_at: Iso | null;
  ended_at: Iso | null;
  created_by: Person;
}
export interface Artefact {
  id: Uuid;
  name: string;
  bytes: number;
  sha256: string;
  content_type: string;
  url: string;
}
export interface Suite {
  slug: string;
  name: string;
  kind: 'training_throughput' | 'inference_latency';
  unit: string;
  better: 'higher' | 'lower';
  description: string;
  rules: { version: number | string; model: string; task: string; text: string; [key: string]: unknown };
  rows_simulated: number;
}
export interface SimulatedRow {
  rank: number;
  label: string;
  organization_name: string;
  system: string;
  ipus: number;
  model_name: string;
  value: number;
  unit: string;
  interval: [number, number] | null;
  global_batch: number;
  precision: string;
  engine_release: string;
  achieved_at: Iso;
  job_id: Uuid | null;
}
export interface PublishedRow {
  label: string;
  source: string;
  round: string;
  division: string;
  system: string;
  chips: string | number;
  model: string;
  framework: string;
  value: number;
  unit: string;
  notes: string;
}
export interface Board {
  suite: Suite;
  version: number | string;
  simulated: SimulatedRow[];
  published: PublishedRow[];
}
