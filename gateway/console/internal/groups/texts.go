package groups

import (
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/storage/access"
)

var texts = ui.Texts{
	"Groups":                               "用户组",
	"Group":                                "用户组",
	"The groups whose members you choose.": "由您决定成员的用户组。",
	"Teams, departments, and whoever else may do the same. Applications are told of them, and rules name " +
		"them.": "团队、部门等权限相同的人员。应用可得知用户所在的组，规则可按组授权。",
	"Begins with":          "开头为",
	"Search":               "搜索",
	"Name":                 "名称",
	"Label":                "显示名称",
	"Managers":             "组管理员",
	"Manager":              "组管理员",
	"Since":                "开始于",
	"No group is found.":   "没有找到用户组。",
	"Show all":             "显示全部",
	"You manage no group.": "您没有管理任何用户组。",
	"No group yet. With one, a rule or an application names a team instead of each of its " +
		"people.": "还没有用户组。有了用户组，规则和应用即可按团队授权，无需逐人列出。",
	"New group": "新建用户组",
	"a-z 0-9 . _ -, for programs; it never changes": "a-z 0-9 . _ -，供程序使用，创建后不能更改",
	"what people call it":                           "人们对它的称呼",
	"Make the group":                                "创建用户组",
	"Members":                                       "成员",
	"Member":                                        "成员",
	"Settings":                                      "设置",
	"Danger":                                        "危险操作",
	"Added by":                                      "添加方式",
	"by hand":                                       "手动添加",
	"Action":                                        "操作",
	"Remove":                                        "移除",
	"Choose":                                        "选择", "Remove the chosen members": "移除所选成员",
	"Nobody is in this group.": "此组还没有成员。",
	"Add a member":             "添加成员",
	"User":                     "用户",
	"a username or a sub":      "用户名或 sub",
	"Add":                      "添加",
	"Save":                     "保存",
	"none":                     "无",
	"It owns":                  "拥有",
	"Applications":             "应用",
	"Tools":                    "工具",
	"They add and remove members, need no role for it, and are the owners of what belongs to the " +
		"group.": "组管理员可添加和移除成员，无需任何角色，并作为所有者管理属于该组的内容。",
	"The group has no managers: administrators choose its members.": "此组没有组管理员：成员由管理员决定。",
	"Add a manager":    "添加组管理员",
	"Delete the group": "删除用户组",
	"Every membership ends at once. Rules that name the group match nobody from then on, also if a group of this " +
		"name is made again. What it owns is nobody's then: administrators alone change it.": "所有成员关系立即结束。此后引用该组的规则不再" +
		"匹配任何人，即使再次创建同名的组。该组拥有的内容不再有所有者：只有管理员能更改。",
	"Type its name": "输入其名称",

	"Make a group":                "创建用户组",
	"The group was made.":         "用户组已创建。",
	"Add a member to a group":     "向用户组添加成员",
	"The member was added.":       "成员已添加。",
	"Remove members from a group": "从用户组移除成员",
	"The members were removed.":   "成员已移除。",
	"Change the label of a group": "更改用户组的显示名称",
	"The change was made.":        "更改已完成。",
	"Give a group a manager":      "为用户组添加组管理员",
	"The manager was added.":      "组管理员已添加。",
	"Take a manager from a group": "移除用户组的组管理员",
	"The manager was removed.":    "组管理员已移除。",
	"Delete a group":              "删除用户组",
	"The group was deleted.":      "用户组已删除。",

	noGroup.Msg:   "没有这个用户组：请在用户组列表中查看现有的用户组",
	notChosen.Msg: "请至少选择一项，至多 100 项",
	noMember.Msg:  "该用户不是此组的成员：请查看成员列表",
	notNamed.Msg:  "请准确输入用户组的名称以将其删除",

	"name: the name of a group is %s":         "名称须为%s",
	access.GroupNameForm:                      "1 至 63 个 a-z 0-9 . _ - 字符，首字符为字母或数字",
	"name: there is a group %s already":       "已有名为 %s 的用户组",
	"label: at most %d bytes":                 "显示名称过长：至多 %d 字节",
	"managers: at most %d":                    "组管理员至多 %d 名",
	"managers: at most 50":                    "组管理员至多 50 名",
	"managers: %q is no user":                 "组管理员 %q 不是用户",
	"a user is a member of at most %d groups": "一个用户至多加入 %d 个用户组",
}
