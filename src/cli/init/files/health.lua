-- Health of a Database for Argo CD. Only the plain language is used: scripts of argocd-cm have no string library.
local health = { status = "Progressing", message = "The controller has not looked at it yet" }
local status = obj.status
if status == nil then
  return health
end
local found = {}
if status.conditions ~= nil then
  for _, condition in ipairs(status.conditions) do
    found[condition.type] = condition
  end
end
local function message(name)
  local condition = found[name]
  if condition == nil or condition.message == nil then
    return ""
  end
  return condition.message
end
local function is(name, value)
  return found[name] ~= nil and found[name].status == value
end
if obj.metadata.deletionTimestamp ~= nil then
  health.message = message("Ready")
  if is("Stalled", "True") then
    health.status = "Degraded"
    health.message = message("Stalled")
  end
  return health
end
if obj.metadata.generation ~= nil and status.observedGeneration ~= obj.metadata.generation then
  health.message = "The controller has not looked at the last change yet"
  return health
end
if is("Stalled", "True") then
  health.status = "Degraded"
  health.message = message("Stalled")
elseif obj.spec.hibernate then
  health.status = "Suspended"
  health.message = message("Ready")
elseif status.phase == "Failed" then
  health.status = "Degraded"
  health.message = message("Ready")
elseif is("BackupReady", "False") and found.BackupReady.reason == "Failed" then
  health.status = "Degraded"
  health.message = message("BackupReady")
elseif is("Ready", "True") and is("Reconciling", "True") then
  health.message = message("Reconciling")
elseif is("Ready", "True") and obj.spec.paused then
  health.status = "Suspended"
  health.message = "spec.paused is true: nothing is applied"
elseif is("Ready", "True") then
  health.status = "Healthy"
  health.message = message("Ready")
else
  health.message = message("Ready")
end
return health
