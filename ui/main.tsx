// Starts the page: the frame, sign-in, and the view that the address names.
import { Component, type FormEvent, type ReactNode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { useAccessPolling } from "./access.js";
import { auth, saveKey } from "./api.js";
import { useKeys } from "./keyboard.js";
import { LabelsContext, useLoadedLabels } from "./labels.js";
import { Frame } from "./parts/frame.js";
import { Empty, Failed } from "./parts/notice.js";
import { ShortcutsDialog } from "./parts/shortcuts-dialog.js";
import { Link, navigate, type Route, to, useRoute } from "./router.js";
import { CostsScreen } from "./screens/costs.js";
import { EntryScreen } from "./screens/entry.js";
import { HomeScreen } from "./screens/home.js";
import { InsightsScreen } from "./screens/insights.js";
import { LiveScreen } from "./screens/live.js";
import { MemoriesScreen } from "./screens/memories.js";
import { MemoryScreen } from "./screens/memory.js";
import { ReviewScreen } from "./screens/review.js";
import { SearchScreen } from "./screens/search.js";
import { SessionScreen } from "./screens/session.js";
import { SessionsScreen } from "./screens/sessions.js";
import { SystemScreen } from "./screens/system.js";
import { useStore } from "./store.js";
import "./page.css";

function Page() {
  const place = useRoute();
  const { locked, code } = useStore(auth);
  useAccessPolling();
  const [isHelping, setHelping] = useState(false);
  useKeys({
    "/": () => document.querySelector<HTMLInputElement>("#search")?.focus(),
    "?": () => setHelping(true),
    "g h": () => navigate(to([])),
    "g s": () => navigate(to(["sessions"])),
    "g c": () => navigate(to(["costs"])),
    "g i": () => navigate(to(["insights"])),
    "g m": () => navigate(to(["memory"])),
    "g e": () => navigate(to(["entries"])),
    "g y": () => navigate(to(["system"])),
  });
  const [view = ""] = place.parts;
  const labels = useLoadedLabels(place.parts.join("/"));
  useEffect(() => {
    document.title = view === "" ? "Hansard" : `${view.charAt(0).toUpperCase()}${view.slice(1)} · Hansard`;
  }, [view]);
  const moved = movedTo(place);
  useEffect(() => {
    if (moved !== undefined) navigate(moved, { replace: true });
  }, [moved]);
  return (
    <LabelsContext value={labels}>
      <Frame view={view}>
        {locked ? (
          <SignIn code={code} />
        ) : (
          <ErrorBoundary key={place.parts.join("/")}>
            <View place={place} />
          </ErrorBoundary>
        )}
        {isHelping && <ShortcutsDialog close={() => setHelping(false)} />}
      </Frame>
    </LabelsContext>
  );
}

/** Where a view of the first edition went; undefined for today's. */
function movedTo({ parts: [view = "", id = ""], query }: Route): string | undefined {
  const rest = Object.fromEntries(query);
  switch (view) {
    case "reflection":
      return to(["insights"], rest);
    case "integrity":
      return to(["system"], rest);
    case "review":
      return to(["memory"], rest);
    case "memories":
      return id === "" ? to(["memory"], { ...rest, tab: "active" }) : to(["memory", id], rest);
    default:
      return undefined;
  }
}

function View({ place }: { readonly place: Route }) {
  const [view = "", id = ""] = place.parts;
  if (movedTo(place) !== undefined) return null;
  switch (view) {
    case "":
      return <HomeScreen query={place.query} />;
    case "sessions":
      return id === "" ? <SessionsScreen query={place.query} /> : <SessionScreen key={id} id={id} place={place} />;
    case "entries":
      return id === "" ? <LiveScreen query={place.query} /> : <EntryScreen key={id} id={id} />;
    case "search":
      return <SearchScreen query={place.query} />;
    case "costs":
      return <CostsScreen query={place.query} />;
    case "insights":
      return <InsightsScreen query={place.query} />;
    case "system":
      return <SystemScreen />;
    case "memory":
      return id === "" ? <MemoryTabs query={place.query} /> : <MemoryScreen key={id} id={id} />;
    default:
      return <NotFound />;
  }
}

const memoryTabs = [
  { tab: "", name: "To review" },
  { tab: "active", name: "Active" },
  { tab: "retired", name: "Retired" },
  { tab: "rejected", name: "Rejected" },
] as const;

/** Candidates to review, active memories, and those that were retired or rejected. */
function MemoryTabs({ query }: { readonly query: URLSearchParams }) {
  const chosen = query.get("tab") ?? "";
  return (
    <>
      <nav className="tabs column wide" aria-label="Memory">
        {memoryTabs.map(({ tab, name }) => (
          <Link key={tab} to={to(["memory"], { tab })} aria-current={tab === chosen ? "page" : undefined}>
            {name}
          </Link>
        ))}
      </nav>
      {chosen === "" ? <ReviewScreen /> : <MemoriesScreen query={query} />}
    </>
  );
}

interface ErrorBoundaryProps {
  readonly children: ReactNode;
}

/** Limits a rendering error to its view; the frame stays usable. */
class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly error: Error | undefined }> {
  override state: { readonly error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error: new Error(`This view failed: ${error instanceof Error ? error.message : String(error)}`) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return <Failed error={error} reload={() => this.setState({ error: undefined })} />;
  }
}

const reasons: { readonly [code: string]: string } = {
  key_wrong: "That key isn’t valid, or was revoked.",
  scope_insufficient: "That key cannot read. Enter one of scope read, review or admin.",
};

function SignIn({ code }: { readonly code: string }) {
  const [key, setKey] = useState("");
  const enter = (event: FormEvent): void => {
    event.preventDefault();
    if (key.trim() !== "") saveKey(key.trim());
  };
  return (
    <form className="sign-in column" onSubmit={enter}>
      <h1>Enter an access key</h1>
      <p role="status">{reasons[code] ?? "Enter a key with read access. It is kept in this tab only."}</p>
      <label htmlFor="key">Key</label>
      <input
        id="key"
        type="password"
        autoComplete="off"
        spellCheck={false}
        // biome-ignore lint/a11y/noAutofocus: the field is all there is on this page.
        autoFocus
        value={key}
        onChange={({ target }) => setKey(target.value)}
      />
      <button type="submit">Sign in</button>
      <p className="quiet">
        To create one: <code>hansard keys create --scope read</code>
      </p>
    </form>
  );
}

function NotFound() {
  return (
    <Empty title="Page not found">
      <p>
        <Link to={to([])}>Home</Link> · <Link to={to(["sessions"])}>Sessions</Link>
      </p>
    </Empty>
  );
}

const root = document.getElementById("page");
if (root !== null) createRoot(root).render(<Page />);
