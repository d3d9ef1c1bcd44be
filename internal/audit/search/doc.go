// Package search finds events on the audit trail by user, application, request id, kind, class of status,
// address and time. [Find] answers a query; an [Indexer] follows the trail and writes what Find looks at.
package search
