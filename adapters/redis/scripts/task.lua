-- Fulfil, claim and return. ARGV[2]: of fulfil, the sealed result.
local early = load()
if early then return early end
local call = the_call()
if not call or not (call.state == 'task' or call.state == 'unknown' and R.act == 'fulfil') then
  local expired = call and call.decision and call.decision.kind == 'expire'
  return commit(refused(expired and 'expired' or 'not_asked', call), true)
end
if now >= call.deadline then
  expire(call)
  return commit(refused('expired', call))
end
if R.act == 'fulfil' then
  if math.abs(now - R.checked_at) > CHECK_AGE_MS then return commit(refused('not_checked', call)) end
  record('fulfil', R.actor)
  decided(call, 'fulfil', R.actor)
  done(call, 0, R.actor)
  return commit(settled(call))
end
if call.claimant and call.claimant[2] ~= R.actor[2] then
  local answer = refused('taken', call)
  answer.by = call.claimant
  return commit(answer, true)
end
record(R.act, R.actor)
call.claimant = R.act == 'claim_task' and R.actor or nil
put(call, R.actor)
return commit({k = R.act == 'claim_task' and 'Yours' or 'Returned'})
