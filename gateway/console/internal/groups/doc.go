// Package groups shows groups of users and who is in them. Administrators make, change and delete them, auditors read,
// and the managers of a group add and remove its members.
//
// # Choices
//
// Managers need no role, so its list is for everybody, and has the groups that they manage: of any other one they are
// answered as if it were not there. They are told the usernames of its members, whom they name by username themselves,
// and nothing else of them.
//
// No page counts members: a group may have a million.
package groups
