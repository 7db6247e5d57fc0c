// Who has a role, and where, in words.
import { get } from "../api";
import { useData } from "../data";
import type { IconName } from "../icons";
import { may } from "../session";
import type { MeRule, ServiceAccount } from "../types";

/** What a subject is, and how it is drawn. */
export const SUBJECTS: Record<string, { word: string; icon: IconName }> = {
  user: { word: "User", icon: "person" },
  "service-account": { word: "Service account", icon: "bot" },
  app: { word: "Service account", icon: "bot" },
  group: { word: "Group", icon: "people" },
};

/** The name of a rule's subject: rules know service accounts by their client ids, people know them by their names. */
export type Names = (rule: MeRule) => string;
export function useNames(): Names {
  const mayRead = may("read", "service-account");
  const { data: accounts, loading } = useData<ServiceAccount[]>(
    mayRead ? "accounts-by-client" : null,
    abort => get("/api/v1/service-accounts", {}, { signal: abort }),
    ["access"],
  );
  return r =>
    SUBJECTS[r.subjectType]?.icon !== "bot"
      ? r.subjectId
      : mayRead && loading
        ? "\u00a0" // an id that turns into a name would move the row below it
        : (accounts?.find(a => a.clientId === r.subjectId)?.name ?? r.subjectId);
}
