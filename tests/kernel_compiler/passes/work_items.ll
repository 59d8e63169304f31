; RUN: kc-opt farcl-work-items %s | FileCheck %s
; A kernel becomes a body with its context; sizes of a required size and full groups are constants.

; CHECK-LABEL: define hidden void @k.body(ptr %a, ptr noalias nonnull readonly {{.*}} %launch, ptr noalias nonnull readonly {{.*}} %group, i64 %local.x, i64 %local.y, i64 %local.z, i64 %base.x, i64 %base.y, i64 %base.z)
; CHECK: %global_id = add nuw i64 %base.x, %local.x
; CHECK: store i64 %global_id, ptr %a
; CHECK: store i64 %local.y, ptr %a
; CHECK: store i64 16, ptr %a
; CHECK: [[AT:%.*]] = getelementptr inbounds i8, ptr %launch, i64 88
; CHECK: %num_groups = load i64, ptr [[AT]], align 8, !invariant.load
; CHECK: store i64 1, ptr %a
; CHECK-NOT: @_Z
define hidden void @k(ptr %a) #0 !reqd_work_group_size !0 {
  %g = call i64 @_Z13get_global_idj(i32 0)
  store i64 %g, ptr %a
  %l = call i64 @_Z12get_local_idj(i32 1)
  store i64 %l, ptr %a
  %s = call i64 @_Z14get_local_sizej(i32 0)
  store i64 %s, ptr %a
  %n = call i64 @_Z14get_num_groupsj(i32 1)
  store i64 %n, ptr %a
  %outside = call i64 @_Z15get_global_sizej(i32 7)
  store i64 %outside, ptr %a
  ret void
}
declare i64 @_Z13get_global_idj(i32)
declare i64 @_Z12get_local_idj(i32)
declare i64 @_Z14get_local_sizej(i32)
declare i64 @_Z14get_num_groupsj(i32)
declare i64 @_Z15get_global_sizej(i32)
attributes #0 = { "farcl-kernel"="k" "farcl-uniform-groups" }
!0 = !{i32 16, i32 1, i32 1}
