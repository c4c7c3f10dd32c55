// Columns: values for `unnest`, and settings for columns with recorded text.

/** Turns rows into one array per column, the form that `unnest` takes. */
export function columnsOf(rows: readonly (readonly unknown[])[], count: number): readonly (readonly unknown[])[] {
  return Array.from({ length: count }, (_, column) => rows.map((row) => row[column]));
}

/**
 * ANALYZE copies values into PostgreSQL's own statistics, where they would stay after they are forgotten. Columns with
 * recorded text are left out; no query plan depends on them.
 */
export function keepOutOfStatistics(table: string, columns: readonly string[]): string {
  return columns.map((column) => `ALTER TABLE ${table} ALTER COLUMN ${column} SET STATISTICS 0;`).join(" ");
}

/** Uses lz4 if available (from PostgreSQL 14 on): it takes a fraction of the time of the default. */
export function compressQuickly(table: string, column: string): string {
  return `
    DO $$ BEGIN
      IF EXISTS (SELECT 1 FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        -- Dynamic, because older versions cannot parse it.
        EXECUTE 'ALTER TABLE ${table} ALTER COLUMN ${column} SET COMPRESSION lz4';
      END IF;
    END $$;`;
}
