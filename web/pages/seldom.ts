// Pages that few open, in one chunk of 47 KB: apart, each would carry the small parts that it shares with the others.
export { default as Account } from "./account";
export { default as Users, ServiceAccounts } from "./users";
export { default as AccessRules } from "./access_rules";
export { default as Roles, EditRole } from "./roles";
export { default as Identity } from "./identity";
export { default as Assets } from "./assets";
export { default as Policies } from "./policies";
export { default as Settings } from "./settings";
export { default as Audit } from "./audit";
export { default as Idle } from "./idle";
export { default as About } from "./about";
export { default as Timeline } from "./timeline";
export { default as Events } from "./events";
export { default as PolicyOf } from "./policy_of";
export { default as Topologies } from "./topologies";
export { default as Clusters } from "./clusters";
export { default as Quota } from "./quota";
export { default as Analytics } from "./analytics";
