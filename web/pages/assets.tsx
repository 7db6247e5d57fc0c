// What can a submission load? Environments, compute resources, templates, data sources and credentials: one table each.
import { getList, remove } from "../api";
import { useData } from "../data";
import { Icon } from "../icons";
import { Button, LinkButton } from "../parts/button";
import { confirm } from "../parts/dialog";
import { Page, Primary } from "../parts/page";
import { Facts, Pane, Split, closePane } from "../parts/pane";
import { Fault, Loading } from "../parts/states";
import { type Column, Table, openHref, renewTables } from "../parts/table";
import { toast, toastError } from "../parts/toast";
import { When, whenColumn } from "../parts/when";
import { type Spec, at } from "../pictures/asset_form";
import { ASSET_PAGES, type AssetKind, type AssetPage, type Field } from "../pictures/asset_kinds";
import { hrefWith, route } from "../router";
import { may } from "../session";
import { WORDS } from "../words";
import { AssetForm } from "./asset_form";
import { type Placed, scopeOf, usePlaceWords } from "../parts/place_words";
import { whereColumn } from "./places_of";

interface Entry {
  meta: Placed & {
    id: string;
    name: string;
    kind?: string;
    workloadType?: string;
    description?: string | null;
    createdBy: string;
    createdAt: string;
    updatedBy?: string | null;
    updatedAt?: string | null;
  };
  spec?: Spec | null;
  assets?: Spec | null;
  runnable?: { isRunnable?: boolean; issue?: string | null };
}
/** A row: the asset's facts side by side, its kind and what it is in a few words. */
export type Asset = Entry["meta"] & { spec: Spec; is: AssetKind; type: string; brief: string; issue: string };

function rowOf({ kinds }: AssetPage, { meta, spec, assets, runnable }: Entry): Asset {
  const id = meta.kind === "workload-template" ? meta.workloadType : (meta.workloadType ?? meta.kind);
  const is = kinds.find(k => k.id === id) ?? kinds[0];
  const own = ((is.within && at(spec, is.within)) || spec || {}) as Spec;
  const issue = runnable?.isRunnable === false ? (runnable.issue ?? "") : "";
  return { ...meta, is, issue, spec: assets ? { ...own, assets } : own, type: is.label, brief: is.brief(own) };
}

const rowsOf = (page: AssetPage) => (answer: unknown) =>
  ((answer as { entries?: Entry[] } | null)?.entries ?? []).map(e => rowOf(page, e));

const lacks = (action: "create" | "update" | "delete", kinds: AssetKind[]) =>
  kinds.some(k => may(action, k.right)) ? "" : WORDS.noRight(`${action} ${kinds[0].right}`);

const columnsOf = (page: AssetPage, where: (p: Placed) => string): Column<Asset>[] => [
  {
    id: "name",
    label: page.word[0].toUpperCase() + page.word.slice(1),
    sort: "name",
    filter: { field: "name" },
    text: r => r.name,
    cell: r => (
      <>
        <Icon name={page.icon} />
        <span>{r.name}</span>
      </>
    ),
  },
  ...(page.kinds.length > 1
    ? [
        {
          id: "type",
          label: "Kind",
          sort: "type",
          text: (r: Asset) => r.type,
          filter: { field: "type", ops: ["=="], values: page.kinds.map(k => ({ value: k.label })) },
        },
      ]
    : []),
  { id: "brief", label: "What", wide: true, text: r => r.brief || r.description || "–" },
  whereColumn(where),
  { id: "by", label: "Created by", sort: "createdBy", cap: true, low: true, text: r => r.createdBy },
  whenColumn("updated", "Last updated", r => r.updatedAt ?? r.createdAt, { low: true, sort: "updatedAt" }),
];

/** The page of one family of assets; ?new=1, ?edit=ID and ?copy=ID are its form. */
export default function Assets({ kind }: { kind: string }) {
  const page = ASSET_PAGES[kind];
  const { query } = route.value;
  return query.new || query.edit || query.copy ? <Making key={kind} page={page} /> : <List key={kind} page={page} />;
}

function List({ page }: { page: AssetPage }) {
  const where = usePlaceWords();
  const id = route.value.query.open;
  const action = !lacks("create", page.kinds) && (
    <Primary href={hrefWith({ new: "1", open: null })} icon="plus" label={`New ${page.word}`} />
  );
  return (
    <Page title={page.title} action={action}>
      <Split label={page.title} pane={id && <Details key={id} id={id} page={page} where={where} />}>
        <Table<Asset>
          name={page.word}
          caption={page.title}
          source={{ path: page.list, key: null, local: true, query: page.query, rows: rowsOf(page) }}
          kinds={["asset"]}
          columns={columnsOf(page, where)}
          sort="name"
          hrefOf={r => openHref(r.id)}
          sub={r => [page.kinds.length > 1 && r.type, r.brief].filter(Boolean).join(" · ")}
          empty={page.none}
        />
      </Split>
    </Page>
  );
}

// The list has all there is of an asset.
function useAsset(page: AssetPage, id: string) {
  const found = useData(
    page.list,
    async abort => rowsOf(page)(await getList(page.list, page.query ?? {}, { signal: abort })),
    ["asset"],
  );
  const asset = found.data?.find(a => a.id === id);
  const gone =
    found.data && !asset && Object.assign(new Error("It was deleted, or you may not read it."), { status: 404 });
  return { asset, error: found.error ?? (gone || null), reload: found.reload };
}

function Making({ page }: { page: AssetPage }) {
  const { query } = route.value,
    id = query.edit ?? query.copy;
  const title = query.edit ? `Edit ${page.word}` : `New ${page.word}`;
  return (
    <Page title={title} action={null}>
      {id ? <FromAsset page={page} id={id} isCopy={!query.edit} /> : <AssetForm page={page} />}
    </Page>
  );
}

function FromAsset({ page, id, isCopy }: { page: AssetPage; id: string; isCopy: boolean }) {
  const { asset, error, reload } = useAsset(page, id);
  if (asset) return <AssetForm page={page} from={asset} isCopy={isCopy} />;
  return (
    <section class="sheet">
      {error ? <Fault error={error} retry={reload} what="The form" /> : <Loading rows={8} height={44} />}
    </section>
  );
}

interface DetailsProps {
  id: string;
  page: AssetPage;
  where: (p: Placed) => string;
}

function Details({ id, page, where }: DetailsProps) {
  const { asset: a, error, reload } = useAsset(page, id);
  if (!a)
    return (
      <Pane id={id} title={page.title}>
        {error ? <Fault error={error} retry={reload} what={`The ${page.word}`} /> : <Loading rows={6} />}
      </Pane>
    );
  return (
    <Pane id={id} title={a.name} line={a.issue || a.description} actions={<Actions page={page} asset={a} />}>
      <Facts
        rows={[
          page.kinds.length > 1 && ["Kind", a.type],
          ["Where", where(a)],
          ...a.is.fields
            .filter(f => !f.secret)
            .map(f => [f.label, said(f, at(a.spec, f.path))] as const)
            .filter(([, value]) => value)
            .map(([label, value]) => [label, <span class="pre">{value}</span>] as [string, preact.JSX.Element]),
          ["Created by", a.createdBy],
          ["Created", <When at={a.createdAt} />],
          a.updatedAt && ["Last updated", <When at={a.updatedAt} />],
          ["Id", <span class="mono">{a.id}</span>],
        ]}
      />
    </Pane>
  );
}

// A value in a pane.
function said(f: Field, value: unknown) {
  if (value === undefined || value === null || value === "") return "";
  if (f.as === "check") return value ? "yes" : "";
  if (f.as === "many") return (value as { name?: string; id: string }[]).map(v => v.name ?? v.id).join("\n");
  if (f.pair) return (value as Spec[]).map(p => `${p[f.pair![0]]}=${p[f.pair![1]] ?? "…"}`).join("\n");
  const word = f.as === "flag" ? Object.entries(value as Spec).find(([, on]) => on)?.[0] : value;
  return String(f.options?.find(o => o.value === word)?.label ?? word);
}

const KIND_OF: Record<string, string> = {
  Training: "training",
  Workspace: "workspace",
  Distributed: "distributed",
  Inference: "inference",
};
// The address of a submission that loads it; none where no form can.
function useIn({ is, id }: Asset) {
  if (is.right === "templates") return `/workloads/new/${KIND_OF[is.id]}?template=${id}`;
  return ["compute", "environment"].includes(is.id) ? `/workloads/new/training?${is.id}=${id}` : "";
}

function Actions({ page, asset: a }: { page: AssetPage; asset: Asset }) {
  const drop = async () => {
    const body = "What was submitted with it stays as it is.";
    if (!(await confirm({ title: `Delete ${a.name}?`, verb: `Delete ${page.word}`, body }))) return;
    try {
      await remove(`${a.is.path}/${a.id}`);
      closePane();
      toast(`Deleted ${a.name}.`);
    } catch (error) {
      toastError(error);
    }
    renewTables();
  };
  const fixed = scopeOf(a) === "system" ? `A predefined ${page.word} stays as it is. Copy it to change the copy.` : "";
  const unset =
    a.is.right === "templates" && a.is.id === "Inference" ? "The API changes no templates of inferences. Copy it." : "";
  const use = may("create", "workloads") && useIn(a);
  const link = (label: string, icon: "edit" | "copy", changes: Record<string, string>, why: string) =>
    why ? (
      <Button small icon={icon} why={why}>
        {label}
      </Button>
    ) : (
      <LinkButton small icon={icon} href={hrefWith({ open: null, tab: null, ...changes })}>
        {label}
      </LinkButton>
    );
  return (
    <>
      {use && (
        <LinkButton small icon="play" href={use}>
          Use in a new workload
        </LinkButton>
      )}
      {link("Edit", "edit", { edit: a.id }, lacks("update", [a.is]) || fixed || unset)}
      {link("Copy", "copy", { copy: a.id }, lacks("create", [a.is]))}
      <Button small icon="trash" writes why={lacks("delete", [a.is]) || fixed} onClick={drop}>
        Delete
      </Button>
    </>
  );
}
