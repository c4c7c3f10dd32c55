// Roles as views read them: providers and older programs have other names for some.

/** The roles that views know. */
export const readRoles = ["user", "assistant", "system", "tool"] as const;
export type Role = (typeof readRoles)[number];

/** What stands for another role in views; what is stored keeps its own name. */
const readAs = { developer: "system", function: "tool", model: "assistant", timmy: "assistant" } as const satisfies {
  readonly [name: string]: Role;
};

/** Every role a message may be recorded with. */
export const roles: readonly string[] = [...readRoles, ...Object.keys(readAs)];

export function isRole(value: unknown): boolean {
  return (roles as readonly unknown[]).includes(value);
}

export function readRole(role: string): Role {
  return Object.hasOwn(readAs, role) ? readAs[role as keyof typeof readAs] : (role as Role);
}
