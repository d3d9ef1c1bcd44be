package rules

import "github.com/keystile/keystile/gateway/console/internal/ui"

var texts = ui.Texts{
	"Access": "访问控制", "Access rules": "访问规则", "Bundles": "工具包", "Who sees what": "谁能看到什么", "Tools": "工具",
	"Capability": "能力", "Owner": "所有者", "Rules": "规则", "Settings": "设置",
	"Who may use which tools. What somebody may not use is not shown to them.": "谁可以使用哪些工具。无权使用的工具不会显示给对方。",
	"Without a rule that allows": "没有允许规则时", "Everyone else": "其他人", "everyone may use them": "所有人均可使用",
	"the owner and administrators may use them": "仅所有者与管理员可使用",
	"no access": "无权使用", "the default": "按默认权限", "show": "查看", "paused": "已暂停",
	"read-only tools": "只读工具", "all": "全部", "and %s more": "另有 %s 项",
	"The owner, administrators, and those whom a rule allows may use these tools. A rule that denies takes " +
		"precedence.": "所有者、管理员以及被规则允许的对象可使用这些工具。拒绝规则优先。",
	"Everyone may use these tools, except those whom a rule denies " +
		"them.": "除被规则拒绝的对象外，所有人均可使用这些工具。",
	"The owner and administrators may use these tools, except those whom a rule denies " +
		"them.": "仅所有者与管理员可使用这些工具，被规则拒绝的除外。",
	"The default": "默认权限", "the setting %s is %s": "设置 %s 的值为 %s",
	"the setting %s is auto, and nobody becomes a user by themselves": "设置 %s 的值为 auto，且无人可自行注册",
	"the setting %s is auto, and people may become users: " +
		"%s": "设置 %s 的值为 auto，且可通过以下方式注册：%s",
	"the setting %s is auto, and the configuration of the service decides, or users who came by themselves " +
		"earlier": "设置 %s 的值为 auto，由服务的配置或此前自行注册的用户决定",
	"Who": "对象", "Effect": "效果", "Action": "操作", "deny": "拒绝", "allow": "允许", "set by an operator": "由运维人员设置",
	"Remove": "移除", "There are no rules, so the default applies.": "没有规则，按默认权限处理。",
	"Add a rule": "添加规则", "everyone, role:developer, user:NAME, app:CLIENT_ID or " +
		"tier:TIER": "everyone、role:developer、user:用户名、app:CLIENT_ID 或 tier:套餐",
	"Deny instead of allow": "拒绝而非允许", "Only read-only tools": "仅限只读工具",
	"Only these tools, one per line; empty: all": "仅限这些工具，每行一个；留空表示全部",
	"Add": "添加", "The rule was added.": "规则已添加，立即生效。", "The rule was removed.": "规则已移除。",
	"Sets of tools for agents, each at an address of its own. A bundle by itself gives access to " +
		"nothing.": "为智能体组合的工具集，各有独立的地址。工具包本身不授予任何权限。",
	"Name": "名称", "Address": "地址", "New bundle": "新建工具包", "Label": "显示名称", "Description": "描述", "Create": "创建",
	"Tools, one per line: member__tool, or member__* for all tools of a capability": "工具，每行一个：member__tool，或用 member__* " +
		"表示某能力的全部工具",
	"The bundle was created.": "工具包已创建。", "The bundle was removed.": "工具包已移除。",
	"Name a user, an application, a role or a tier to see which tools they may use with a token for all tools, and " +
		"why.": "指定用户、应用、角色或套餐，查看其持有全部工具的令牌时可以使用哪些工具，以及依据。",
	"User": "用户", "Application": "应用", "Role": "角色", "Tier": "套餐", "Show": "查看", "Tool": "工具", "Sees it": "可见",
	"Because": "依据", "yes": "是", "no": "否",
	"a rule denies it to": "规则拒绝：", "a rule allows it to": "规则允许：", "There are no tools on the bus.": "总线上没有工具。",
	"the owner": "所有者", "an administrator": "管理员", "no rule allows it": "没有规则允许", "the default: everyone": "默认权限：所有人",
	"the default: the owner and administrators": "默认权限：所有者与管理员", "the service hides it from them": "服务未向其开放",
	noCapability.Msg: "没有这个能力", noRule.Msg: "该能力没有这条规则：它已被移除或替换", noBundle.Msg: "没有这个工具包", notTyped.Msg: "请指定用户、应用、角色或套餐",
	"there is no such user: give a username or a sub":  "没有该用户：请填写用户名或 sub",
	"there is no such application: give its client_id": "没有该应用：请填写 client_id",
}
