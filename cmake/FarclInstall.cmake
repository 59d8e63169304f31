# What is installed besides the programs and libraries, which their own folders install: headers, the CMake package, the .icd
# file by which OpenCL's loader finds the driver, and the papers.
include(CMakePackageConfigHelpers)

set(FARCL_INSTALL_CMAKEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/FarCL)
install(TARGETS farcl_headers EXPORT FarCLTargets)
install(EXPORT FarCLTargets NAMESPACE FarCL:: DESTINATION ${FARCL_INSTALL_CMAKEDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/farcl ${CMAKE_BINARY_DIR}/include/farcl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/FarCLConfig.cmake.in ${CMAKE_BINARY_DIR}/FarCLConfig.cmake
  INSTALL_DESTINATION ${FARCL_INSTALL_CMAKEDIR} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR CMAKE_INSTALL_SYSCONFDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/FarCLConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_BINARY_DIR}/FarCLConfig.cmake ${CMAKE_BINARY_DIR}/FarCLConfigVersion.cmake DESTINATION ${FARCL_INSTALL_CMAKEDIR})

# The .icd file holds the driver's final path, which is known only when `cmake --install --prefix` runs.
if(TARGET farcl_driver)
  install(CODE "set(farcl_library \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libfarcl.so\")
    set(farcl_vendors \"${CMAKE_INSTALL_SYSCONFDIR}/OpenCL/vendors\")
    if(\"\${CMAKE_INSTALL_PREFIX}\" STREQUAL \"/usr\")
      set(farcl_vendors \"\$ENV{DESTDIR}/etc/OpenCL/vendors\")
    else()
      set(farcl_vendors \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/\${farcl_vendors}\")
    endif()
    file(WRITE \"\${farcl_vendors}/farcl.icd\" \"\${farcl_library}\\n\")
    message(STATUS \"Installing: \${farcl_vendors}/farcl.icd\")")
endif()

file(GLOB farcl_papers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/*.md)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE ${farcl_papers} DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(EXISTS ${CMAKE_SOURCE_DIR}/docs/images)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/images DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
