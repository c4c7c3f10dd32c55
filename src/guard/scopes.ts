// What a key may do. The scope of a route is stated by its operation.

export const scopes = ["capture", "metrics", "read", "review", "admin"] as const;
export type Scope = (typeof scopes)[number];

/** The scopes that each one includes: capture only writes, metrics sees figures but no entries, admin may do everything. */
const included: { readonly [scope in Scope]: readonly Scope[] } = {
  capture: ["capture"],
  metrics: ["metrics"],
  read: ["read", "metrics"],
  review: ["review", "read", "metrics"],
  admin: scopes,
};

export function allows(granted: Scope, needed: Scope): boolean {
  return included[granted].includes(needed);
}

export function isScope(value: unknown): value is Scope {
  return (scopes as readonly unknown[]).includes(value);
}
