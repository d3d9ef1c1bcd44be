// Package rules shows who may use which tools, and changes it: the access lists of capabilities, the
// bundles, and what somebody sees on the bus.
//
// # Choices
//
// Rules are added one by one, and removed by an id made of what they say: two people who edit one list
// do not undo each other. A rule takes the place of one about the same subject and tools, as
// keystile capability access has it.
//
// The owner of a capability writes its rules; bundles, which name tools of several owners, are an
// administrator's. Only administrators and auditors learn which tools somebody else sees: that
// tells which tools there are.
package rules
