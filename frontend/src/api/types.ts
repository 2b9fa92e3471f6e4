// Short names for the shapes of the portal's schema, and closer types for what the schema leaves open.
import type { components } from './schema';

type Schemas = components['schemas'];

export type Artefact = Schemas['Artefact'];
export type Board = Schemas['Board'];
export type Dataset = Omit<Schemas['Dataset'], 'id'> & { id: RunConfig['dataset'] };
export type EstimateRow = Omit<Schemas['Estimate'], 'estimate'> & { estimate: Estimate | null };
export type Estimate = Omit<Schemas['Estimated'], 'bound_by'> & { bound_by: Resource };
export type Inspection = Schemas['Inspection'];
export type JobEnd = Schemas['End'];
export type JobState = Schemas['JobStateEnum'];
export type LedgerEntry = Schemas['LedgerEntry'];
export type Member = Schemas['Member'];
export type Model = Schemas['Model'];
export type Occupancy = Schemas['Occupancy'];
export type Organization = Schemas['Organization'];
export type OutboxMail = Schemas['OutboxMail'];
export type Pod = Schemas['Pod'];
export type Project = Schemas['Project'];
export type PublishedRow = Schemas['PublishedRow'];
export type Reservation = Schemas['Reservation'];
export type Role = Schemas['RoleEnum'];
export type Scope = Schemas['ScopesEnum'];
export type Session = Schemas['Session'];
export type SimulatedRow = Schemas['SimulatedRow'];
export type StreamEvent = Schemas['Event'];
export type Suite = Schemas['Suite'];
export type System = Schemas['System'];
export type TensorSpec = Schemas['Tensor'];
export type Token = Schemas['Token'];
export type Upload = Schemas['Upload'];
export type ZooModel = Schemas['ZooModel'];

export interface Page<T> {
  results: T[];
  next: string | null;
}

/** What binds a step, as the engine names it. */
export type Resource = 'compute' | 'exchange' | 'sync' | 'host' | 'collective' | 'copy' | 'bubble';

/** The engine's settings of a run; the portal passes them through. */
export interface RunConfig {
  task: 'train' | 'infer';
  batch: number;
  steps: number;
  optimiser: 'sgd' | 'momentum' | 'adam' | 'adamw' | 'lamb';
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

export type Job = Omit<Schemas['Job'], 'config'> & { config: RunConfig };
