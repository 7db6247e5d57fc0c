// The views that a person saved of a page: filters, search, order and columns under a name, kept with the account.
import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { del, get, post, put } from "../api";
import { useData } from "../data";
import { route } from "../router";
import type { Answer } from "../types";
import { Button } from "./button";
import { Popover } from "./menu";
import { Loaded } from "./states";
import type { Column } from "./table";
import { columnsInUse } from "./table_columns";
import { toast, toastError } from "./toast";

const PATH = "/api/v1/me/views";
type View = Answer<typeof PATH>["views"][number];
interface Of<R> {
  /** The page's path without its slash. */
  page: string;
  /** Of the table. */
  name: string;
  columns: Column<R>[];
}

const KEPT = ["f", "q", "sort", "rows"]; // of the address; which page and row is open is no part of a view

function present<R>({ name, columns }: Of<R>) {
  const query = new URLSearchParams();
  for (const key of KEPT) if (route.value.query[key]) query.set(key, route.value.query[key]!);
  query.set("cols", columnsInUse(name, columns));
  return query.toString();
}

async function copyLink(href: string) {
  try {
    await navigator.clipboard.writeText(location.origin + href);
    toast("The link is copied.");
  } catch {
    toast("The browser doesn't allow copying here.", { tone: "bad" });
  }
}

export function SavedViews<R>(of: Of<R>) {
  return (
    <Popover small icon="list" align="right" text={<span class="hide-s">Views</span>} label="Saved views">
      {close => <Views {...of} close={close} />}
    </Popover>
  );
}

function Views<R>({ close, ...of }: Of<R> & { close: () => void }) {
  const { page } = of;
  const views = useData(`me/views/${page}`, async abort => (await get(PATH, { page }, { signal: abort })).views);
  const [name, setName] = useState("");
  const same = views.data?.find(v => v.name.toLowerCase() === name.trim().toLowerCase());
  const change = async (action: Promise<unknown>, said: string) => {
    try {
      await action;
      toast(said);
      setName("");
    } catch (error) {
      toastError(error);
    }
    views.reload();
  };
  const save = (event: TargetedEvent) => {
    event.preventDefault();
    const body = { page, name: name.trim(), query: present(of) };
    if (body.name) change(same ? put(`${PATH}/${same.id}`, body) : post(PATH, body), `Saved: ${body.name}.`);
  };
  return (
    <div class="chooser">
      <form class="filter-form" onSubmit={save}>
        <div class="f">
          <label for="view-name">Save this view as</label>
          <input
            class="in"
            id="view-name"
            value={name}
            maxLength={100}
            autocomplete="off"
            onInput={e => setName(e.currentTarget.value)}
          />
        </div>
        <Button type="submit" kind="primary" small writes why={name.trim() ? "" : "Give it a name first."}>
          {same ? "Replace" : "Save"}
        </Button>
      </form>
      <Loaded of={views} what="Your views" rows={1}>
        {list =>
          list.length ? (
            <ul aria-label="Saved views">
              {list.map(v => (
                <Row
                  key={v.id}
                  view={v}
                  close={close}
                  drop={() => change(del(`${PATH}/${v.id}`), `Deleted: ${v.name}.`)}
                />
              ))}
            </ul>
          ) : (
            <p class="soft small">Save filters, order and columns under a name.</p>
          )
        }
      </Loaded>
    </div>
  );
}

function Row({ view: { name, page, query }, close, drop }: { view: View; close: () => void; drop: () => void }) {
  const href = `/${page}?${query}`;
  return (
    <li>
      <a class="btn quiet sm" href={href} onClick={() => close()}>
        <span class="cut">{name}</span>
      </a>
      <Button small kind="quiet" icon="copy" label={`Copy the link of ${name}`} onClick={() => copyLink(href)} />
      <Button small kind="quiet" icon="trash" writes label={`Delete the view ${name}`} onClick={drop} />
    </li>
  );
}
