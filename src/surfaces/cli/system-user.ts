// Who sits at this machine, as far as it knows.
import { userInfo } from "node:os";

/** The user's name, for entries that say who did something. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // The account has no name in the system's list, as in many containers.
    return `user ${process.getuid?.() ?? "unknown"}`;
  }
}
