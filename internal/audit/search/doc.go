// Package search finds events on the audit trail by user, application, agent, request id, kind, class of status,
// address and time. [Find] answers a query; an [Indexer] follows the trail and writes what Find looks at.
//
// # Choices
//
// The index is documents of the store, so every adapter has it. It is written after the trail and not
// with it: a flush stays one Append, and a trail of an earlier version is indexed like a new one. A
// search reads the records that are not indexed yet, less than a page of them.
//
// A segment holds the postings of 499 records in one document. 64 of them become a group, whose postings
// are cut by the term's hash into 256 documents: a search reads one small document of each group and
// term. Applications have parts of their own, listed together for searches of up to a hundred of them.
//
// Terms are hashes with a key of the index, so nobody can send texts that all fall into one part, and the
// index holds no text. Two terms may have one hash, therefore each find is compared with its record.
//
// An agent is the application of an event, or one that acts by delegation. Those who are not the application have
// terms of their own, so an agent is looked up by two terms, and an index of before they were there is whole.
//
// A search is one that reads a bounded amount and says where it stopped. The rarest clause comes first,
// the others are looked up only among what it found, and records are read when they fill the page.
package search
