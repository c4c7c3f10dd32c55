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
import { EntryScreen } from "./screens/entry.js";
import { IntegrityScreen } from "./screens/integrity.js";
import { LiveScreen } from "./screens/live.js";
import { MemoriesScreen } from "./screens/memories.js";
import { MemoryScreen } from "./screens/memory.js";
import { ReflectionScreen } from "./screens/reflection.js";
import { ReviewScreen } from "./screens/review.js";
import { SearchScreen } from "./screens/search.js";
import { SessionScreen } from "./screens/session.js";
import { SessionsScreen } from "./screens/sessions.js";
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
    "g r": () => navigate(to([])),
    "g s": () => navigate(to(["sessions"])),
    "g f": () => navigate(to(["reflection"])),
    "g v": () => navigate(to(["review"])),
    "g m": () => navigate(to(["memories"])),
    "g i": () => navigate(to(["integrity"])),
  });
  const [view = ""] = place.parts;
  const labels = useLoadedLabels(place.parts.join("/"));
  useEffect(() => {
    document.title = view === "" ? "Hansard" : `${view.charAt(0).toUpperCase()}${view.slice(1)} · Hansard`;
  }, [view]);
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

function View({ place }: { readonly place: Route }) {
  const [view = "", id = ""] = place.parts;
  switch (view) {
    case "":
      return <LiveScreen query={place.query} />;
    case "sessions":
      return id === "" ? <SessionsScreen query={place.query} /> : <SessionScreen key={id} id={id} place={place} />;
    case "entries":
      return <EntryScreen key={id} id={id} />;
    case "search":
      return <SearchScreen query={place.query} />;
    case "reflection":
      return <ReflectionScreen query={place.query} />;
    case "integrity":
      return <IntegrityScreen />;
    case "review":
      return <ReviewScreen />;
    case "memories":
      return id === "" ? <MemoriesScreen query={place.query} /> : <MemoryScreen key={id} id={id} />;
    default:
      return <NotFound />;
  }
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
        <Link to={to([])}>Record</Link> · <Link to={to(["sessions"])}>Sessions</Link>
      </p>
    </Empty>
  );
}

const root = document.getElementById("page");
if (root !== null) createRoot(root).render(<Page />);
