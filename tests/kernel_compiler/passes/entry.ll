; RUN: kc-opt "farcl-work-items,farcl-coroutines,coro-early,cgscc(coro-split),coro-cleanup,farcl-entry" %s | FileCheck %s
; Without a barrier: loops around the body, with parallel accesses. With one: a ramp per item, then rounds of resuming.

; CHECK-LABEL: define internal void @plain.body(
; CHECK: store i64 {{.*}} !llvm.access.group [[GROUP:![0-9]+]]
; CHECK-LABEL: define internal void @waiting.body(ptr {{.*}}%frame
; CHECK-LABEL: define void @farcl_kernel_plain(
; CHECK: x:
; CHECK: call void @plain.body(
; CHECK: br i1 {{.*}}, label %x, {{.*}} !llvm.loop
; CHECK-LABEL: define void @farcl_kernel_waiting(
; CHECK: call void @waiting.body(ptr %frame
; CHECK: round:
; CHECK: call fastcc void @waiting.body.resume(ptr
; CHECK: !{!"llvm.loop.parallel_accesses", [[GROUP]]}
define hidden void @plain(ptr %a) #0 {
  %g = call i64 @_Z13get_global_idj(i32 0)
  store i64 %g, ptr %a
  ret void
}
define hidden void @waiting(ptr %a) #1 {
  %g = call i64 @_Z13get_global_idj(i32 0)
  call void @_Z7barrierj(i32 1)
  store i64 %g, ptr %a
  ret void
}
declare i64 @_Z13get_global_idj(i32)
declare void @_Z7barrierj(i32)
attributes #0 = { "farcl-kernel"="plain" }
attributes #1 = { "farcl-kernel"="waiting" }
