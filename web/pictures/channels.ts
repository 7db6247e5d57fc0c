// Notification channels as a form has them, and a person's choices of what to hear of by which. Pure tables and functions.
import type { Subscription } from "../types";
import type { AssetKind, Field } from "./asset_kinds";

const hidden = (path: string, label: string, hint: string): Field => ({ path, label, hint, secret: true });
const kind = (id: string, label: string, fields: Field[]): AssetKind => ({
  id,
  label,
  path: "/api/v1/notification-channels",
  right: "settings",
  fields,
  brief: () => "",
});
const RECIPIENTS: Field = { path: "recipients", label: "Also tell", as: "lines", rows: 2, mono: true };

/** The kinds of channels: there is one of the first two, any number of the last. */
export const CHANNEL_KINDS: AssetKind[] = [
  kind("email", "E-mail", [
    {
      path: "smtpHost",
      label: "Mail server",
      size: "half",
      mono: true,
      required: true,
      placeholder: "mail.lab.example",
    },
    { path: "smtpPort", label: "Port", as: "number", size: "half", initial: 587 },
    { path: "from", label: "Sender's address", size: "half", mono: true, required: true },
    { path: "fromDisplayName", label: "Sender's name", size: "half" },
    { path: "smtpTlsEnabled", label: "Encrypted (TLS)", as: "check", initial: true },
    { path: "username", label: "User", size: "half", hint: "Empty: the server asks for none" },
    { ...hidden("password", "Password", "Never shown again"), size: "half" },
    { ...RECIPIENTS, hint: "An address a line: they get every message" },
  ]),
  kind("slack", "Slack", [
    hidden("webhookUrl", "Address of an incoming webhook", "Never shown again"),
    hidden("apiToken", "Or the token of an app", "Never shown again"),
    { ...RECIPIENTS, hint: "With a token: the id of a Slack channel a line" },
  ]),
  kind("webhook", "Webhook", [
    hidden("webhookUrl", "Address", "Never shown again"),
    hidden("secret", "Secret", "At least 16 characters; each delivery is signed with it"),
  ]),
];

/** "category/type/channel" for each box that is ticked. */
export const ticksOf = (subscriptions: Subscription[]) =>
  new Set(
    subscriptions.flatMap(s =>
      s.channels.flatMap(channel => s.events.flatMap(e => e.types.map(type => `${e.category}/${type}/${channel}`))),
    ),
  );

type Write =
  | { method: "POST"; id?: undefined; body: Subscription }
  | { method: "PUT"; id: string; body: Subscription }
  | { method: "DELETE"; id: string; body?: undefined };

/** What to send so that the boxes hold: one subscription a channel, what is there already left alone. */
export function subscriptionWrites(old: Subscription[], ticks: Set<string>, scope: "own" | "all"): Write[] {
  const channels = [...new Set([...ticks].map(tick => tick.slice(tick.lastIndexOf("/") + 1)))];
  const wanted = channels.map((channel): Subscription => {
    const events = new Map<string, string[]>();
    for (const tick of [...ticks].filter(t => t.endsWith(`/${channel}`)).sort()) {
      const [category, type] = tick.slice(0, -channel.length - 1).split("/");
      events.set(category, [...(events.get(category) ?? []), type]);
    }
    return { channels: [channel], scope, events: [...events].map(([category, types]) => ({ category, types })) };
  });
  const isOf = (s: Subscription, channel: string) => s.channels.length === 1 && s.channels[0] === channel;
  const isSame = (a: Subscription, b: Subscription) =>
    (a.scope ?? "own") === b.scope && [...ticksOf([a])].sort().join("\n") === [...ticksOf([b])].sort().join("\n");
  const kept = new Set<Subscription>();
  const writes = wanted.flatMap((body): Write[] => {
    const there = old.find(s => isOf(s, body.channels[0]) && !kept.has(s));
    if (there) kept.add(there);
    if (!there) return [{ method: "POST", body }];
    return isSame(there, body) ? [] : [{ method: "PUT", id: there.id!, body }];
  });
  return [...writes, ...old.filter(s => !kept.has(s)).map((s): Write => ({ method: "DELETE", id: s.id! }))];
}
