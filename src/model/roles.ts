// Roles as views read them: two older names stand for others.

/** Every role a message may be recorded with. */
export const roles = ["user", "assistant", "system", "tool", "developer", "timmy"] as const;

export function isRole(value: unknown): boolean {
  return (roles as readonly unknown[]).includes(value);
}

/** The roles that views know. */
export const readRoles = ["user", "assistant", "system", "tool"] as const;
export type Role = (typeof readRoles)[number];

/** `developer` is read as system, the old `timmy` as assistant; what is stored keeps its own name. */
export function readRole(role: string): Role {
  if (role === "developer") return "system";
  if (role === "timmy") return "assistant";
  return role as Role;
}
