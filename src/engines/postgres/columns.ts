// Columns: rows of values as PostgreSQL takes them, and what it is told about columns that hold recorded text.

/** Rows of values as one list for each column, which is how unnest takes them. */
export function columnsOf(rows: readonly (readonly unknown[])[], count: number): readonly (readonly unknown[])[] {
  return Array.from({ length: count }, (_, column) => rows.map((row) => row[column]));
}

/**
 * ANALYZE copies values of up to a kilobyte into a table of PostgreSQL's own, where they would stay when they are forgotten.
 * Columns that hold what was recorded are therefore left out of it; their indexes are such that no plan depends on it.
 */
export function keepOutOfStatistics(table: string, columns: readonly string[]): string {
  return columns.map((column) => `ALTER TABLE ${table} ALTER COLUMN ${column} SET STATISTICS 0;`).join(" ");
}

/** From PostgreSQL 14 on, where it was built with it: lz4 takes a fraction of the time that the older way takes. */
export function compressQuickly(table: string, column: string): string {
  return `
    DO $$ BEGIN
      IF EXISTS (SELECT 1 FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        -- As text, because older versions cannot even read it.
        EXECUTE 'ALTER TABLE ${table} ALTER COLUMN ${column} SET COMPRESSION lz4';
      END IF;
    END $$;`;
}
