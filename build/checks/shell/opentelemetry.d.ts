/** Types of a package that oRPC names and that is not installed. */
export type Tracer = unknown;
export type TraceAPI = unknown;
export type ContextAPI = unknown;
export type PropagationAPI = unknown;
export type SpanOptions = object;
export type Context = unknown;
export type Span = unknown;
export type AttributeValue = unknown;
export type Exception = unknown;
