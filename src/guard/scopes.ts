// What a key may do. The scopes of the routes are in guard/scopes.ts.

export const scopes = ["capture", "metrics", "read", "review", "admin"] as const;
export type Scope = (typeof scopes)[number];

/** What each scope may do beside its own: capture writes and reads nothing, metrics sees figures and no entry, admin is all. */
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
