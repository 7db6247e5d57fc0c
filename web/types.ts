// What the server is asked and what it answers, as openapi/openapi.yaml has it: `npm run types` makes generated/api.d.ts from it.
// A page that asks for a path or a field that isn't there does not pass `npm run check`.
import type { components, paths } from "./generated/api";

type Schemas = components["schemas"];
export type About = Schemas["About"];
export type AccessRule = Schemas["AccessRule"];
export type AssetMeta = Schemas["AssetMeta"];
export type AuditLog = Schemas["AuditLog"];
export type ComputeAsset = Schemas["ComputeAsset"];
export type ComputeSpec = Schemas["ComputeAssetSpec"];
export type Department = Schemas["Department"];
export type DepartmentForList = Schemas["DepartmentForList"];
export type EnvironmentAsset = Schemas["EnvironmentAsset"];
export type Event = NonNullable<Schemas["Event2"]>;
export type Explanation = Schemas["Explanation"];
export type Forecast = Schemas["Forecast"];
export type IdleWorkloads = Schemas["IdleWorkloads"];
export type MeRule = Schemas["MeAccessRule"];
export type Measurement = Schemas["MeasurementResponse"];
export type Node = Schemas["Node"];
export type NodeReadings = NonNullable<Schemas["NodesDevices"]["nodes"]>[number];
export type NodeDevice = Schemas["NodeDevice"];
export type Nodepool = Schemas["Nodepool"];
export type NodeTypes = Schemas["NodeTypesPerWorkload"];
export type Overview = Schemas["Overview"];
export type OverviewNodes = Schemas["OverviewNodes"];
export type OverviewPool = Schemas["OverviewNodePool"];
export type OverviewProject = Schemas["OverviewProject"];
export type Pod = Schemas["Pod1"];
export type Project = Schemas["Project"];
export type ProjectBudget = Schemas["ProjectBudget"];
export type Timeline = Schemas["Timeline"];
export type QueueOrder = Schemas["QueueOrder"];
export type QuotaStatus = Schemas["QuotaStatus"];
export type Receipt = Schemas["Receipt"];
export type Resources = Schemas["Resources"];
export type Rules = Schemas["SchedulingRules"];
export type SchedulingConfiguration = Schemas["SchedulingConfiguration"];
export type Role = Schemas["RoleV1"];
export type ServiceAccount = Schemas["Application"];
export type Session = Schemas["Session"];
export type ShareNode = Schemas["ShareNode"];
export type ShareTree = Schemas["ShareTree"];
export type SubGroup = Schemas["SubGroup"];
export type Subscription = Schemas["Subscription"];
export type Telemetry = Schemas["TelemetryResponse"];
export type SchedulerPace = Schemas["SchedulerPace"];
export type Topology = Schemas["NetworkTopology"];
export type User = Schemas["User2"];
export type WaitingGroup = Schemas["WaitingGroup"];
export type WhatIfAnswer = Schemas["WhatIfAnswer"];
export type WhatIfDisplaced = Schemas["WhatIfDisplaced"];
export type WhatIfFix = Schemas["WhatIfFix"];
export type WhatIfQuotaAnswer = Schemas["WhatIfQuotaAnswer"];
export type WhatIfQuestion = Schemas["WhatIfQuestion"];
export type Workload = Schemas["Workload"];
export type WorkloadExplanation = Schemas["WorkloadExplanation"];
export type WorkloadTopology = NonNullable<Schemas["WorkloadTopology"]>;

export type Method = "get" | "post" | "put" | "patch" | "delete";

// "/api/v1/nodes/{nodeId}" as a caller writes it: `/api/v1/nodes/${string}`.
type Written<K extends string> = K extends `${infer Head}{${infer _Name}}${infer Tail}`
  ? `${Head}${string}${Written<Tail>}`
  : K;
type Having<M extends Method> = {
  [K in keyof paths]: paths[K] extends Record<M, { responses: unknown }> ? K : never;
}[keyof paths];
type Named<P extends string, M extends Method> = {
  [K in Having<M>]: Written<K> extends P ? (P extends Written<K> ? K : never) : never;
}[Having<M>];

/** Every path of a method, values in their places. */
export type Path<M extends Method> = Written<Having<M>>;

type Operation<P extends string, M extends Method> = paths[Named<P, M>][M & keyof paths[Named<P, M>]];
type Json<C> = C extends { content: { "application/json": infer T } } ? T : never;
type Responses<O> = O extends { responses: infer R } ? R : never;
type Good<R> = R extends { 200: infer C }
  ? Json<C>
  : R extends { 201: infer C }
    ? Json<C>
    : R extends { 202: infer C }
      ? Json<C>
      : null;
// Rows of workloads are whole here: no page asks for `fields`.
export type Answer<P extends string, M extends Method = "get"> = `${M} ${P}` extends "get /api/v1/workloads"
  ? { workloads: Workload[]; next?: number }
  : Good<Responses<Operation<P, M>>>;
export type Body<P extends string, M extends Method> =
  Operation<P, M> extends { requestBody: infer C } ? Json<NonNullable<C>> : Json<Optional<Operation<P, M>>>;
type Optional<O> = O extends { requestBody?: infer C } ? NonNullable<C> : never;

type Word = string | number | boolean | null | undefined;
type Parameters<O> = O extends { parameters: { query?: infer Q } } ? keyof NonNullable<Q> : never;
export type Query<P extends string, M extends Method = "get"> = {
  [K in Parameters<Operation<P, M>>]?: Word | Word[];
};
export type AnyQuery = Record<string, Word | Word[]>;
