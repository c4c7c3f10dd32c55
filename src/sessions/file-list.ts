// What a list of files is asked with and answers: schema and types in one.
import { Type } from "typebox";
import { type AnswerOf, count, named, pageEnd, text, time } from "../model/schema.js";

export interface FilesQuery {
  readonly filter: {
    readonly session_id?: string;
    readonly project?: string | readonly string[];
    readonly client?: string | readonly string[];
    readonly since_ms?: number;
    readonly until_ms?: number;
  };
  /** The end of the path, by whole parts. */
  readonly path: string | undefined;
  readonly limit: number;
  readonly fingerprint: string;
  readonly after?: { readonly position: number; readonly as_of: number };
}

export type FileList = AnswerOf<typeof filePage>;
export const filePage = named(
  "FilePage",
  Type.Object({
    files: Type.Array(
      Type.Object({
        path: Type.String({ description: "Below the working directory of the session, where it is there." }),
        project: text,
        reads: count,
        writes: count,
        last_position: count,
        last_at: time,
        sessions: Type.Array(Type.Object({ session_id: text, title: text }), {
          description: "Those that touched it last come first; at most 20.",
        }),
        sessions_count: count,
      }),
    ),
    ...pageEnd,
  }),
);
