// Filters of a list, kept in the address.

import { kindNames } from "../format.js";
import { setQuery } from "../router.js";

export function KindFilter({ query }: { readonly query: URLSearchParams }) {
  return <FilterSelect name="kind" label="kind" all="all kinds" values={kindNames} query={query} />;
}

export function FilterSelect(options: {
  readonly name: string;
  readonly label: string;
  readonly all: string;
  readonly values: readonly string[];
  readonly query: URLSearchParams;
}) {
  const { name, label, all, values, query } = options;
  const chosen = query.get(name) ?? "";
  const offered = chosen === "" || values.includes(chosen) ? values : [chosen, ...values];
  return (
    <label className="choice" data-chosen={chosen !== ""}>
      <span className="only-read">{label}</span>
      <select value={chosen} onChange={({ target }) => setQuery({ [name]: target.value })}>
        <option value="">{all}</option>
        {offered.map((value) => (
          <option key={value} value={value}>
            {value.replaceAll("_", " ")}
          </option>
        ))}
      </select>
    </label>
  );
}
